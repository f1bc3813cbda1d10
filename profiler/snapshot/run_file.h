// SPDX-License-Identifier: Apache-2.0
// The file of a recorded run. The file is a trace, or a PyTorch memory snapshot. The constructor detects the
// kind from the first bytes of the file.
//
//   const RunFile file("run.pickle");
//   file.is_snapshot()     true
//   file.ReadSnapshot()    the tables of the snapshot, read at the first call and then cached
//   file.OpenSource()      the input of every analysis, made from the same tables
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
  // A file that is not a snapshot counts as a trace. If it is not a trace either, opening it returns an
  // error.
  explicit RunFile(std::string path) : path_(std::move(path)), is_snapshot_(LooksLikeSnapshot(path_)) {}

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool is_snapshot() const { return is_snapshot_; }

  // Call this only if is_snapshot(). Not thread-safe.
  [[nodiscard]] Result<std::shared_ptr<const Snapshot>> ReadSnapshot() const;
  // Opens a trace. Fails for a snapshot.
  [[nodiscard]] Result<std::unique_ptr<trace::TraceReader>> OpenTrace() const;
  // Opens a trace or a snapshot.
  [[nodiscard]] Result<std::shared_ptr<const model::Source>> OpenSource() const;

 private:
  std::string path_;
  bool is_snapshot_;
  mutable std::optional<Result<std::shared_ptr<const Snapshot>>> snapshot_;
};

}  // namespace vramscope::snapshot
