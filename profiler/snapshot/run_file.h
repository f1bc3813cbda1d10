// SPDX-License-Identifier: Apache-2.0
// The file of a run: a trace, or a PyTorch memory snapshot. The first bytes decide which, when this object is
// created.
//
//   const RunFile file("run.pickle");
//   file.is_snapshot()     true
//   file.ReadSnapshot()    its tables, read at the first call and then kept
//   file.OpenSource()      what every analysis reads, made from the same tables
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "profiler/model/source.h"
#include "profiler/snapshot/read.h"
#include "trace_format/reader.h"
#include "trace_format/result.h"

namespace vramscope::snapshot {

class RunFile {
 public:
  // Any other file counts as a trace: opening it returns the error.
  explicit RunFile(std::string path) : path_(std::move(path)), is_snapshot_(LooksLikeSnapshot(path_)) {}

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool is_snapshot() const { return is_snapshot_; }

  // Only if is_snapshot(). Not thread-safe.
  [[nodiscard]] Result<std::shared_ptr<const Snapshot>> ReadSnapshot() const;
  // Fails for snapshots.
  [[nodiscard]] Result<std::unique_ptr<trace::TraceReader>> OpenTrace() const;
  // For traces and snapshots.
  [[nodiscard]] Result<std::shared_ptr<const model::Source>> OpenSource() const;

 private:
  std::string path_;
  bool is_snapshot_;
  mutable std::optional<Result<std::shared_ptr<const Snapshot>>> snapshot_;
};

}  // namespace vramscope::snapshot
