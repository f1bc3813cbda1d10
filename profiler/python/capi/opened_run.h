// SPDX-License-Identifier: Apache-2.0
// A trace or snapshot that Python has opened. Each part is read when it is first needed, and then kept in
// memory.
//
//   part      read for                               tables made from it
//   source    Open()                                 events, stacks, operators
//   run       the first segments, blocks or series   segments
//   content   the first blocks or series             blocks, series
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "profiler/python/capi/tables.h"
#include "trace_format/result.h"

namespace vramscope::python {

class OpenedRun {
 public:
  // Fails if the file is neither a trace nor a snapshot.
  static Result<std::unique_ptr<OpenedRun>> Open(const std::string& path);

  // Returns the table `name`: events, blocks, series, stacks, operators or segments. `question` has lines
  // "key=value". The keys are device, process, rank and steps ("3" or "2:5"), as in `vramscope report`. For
  // series, all=1 selects all devices. Thread-safe.
  [[nodiscard]] Result<SharedTable> TableNamed(const std::string& name, const std::string& question);

 private:
  explicit OpenedRun(std::shared_ptr<const model::Source> source) : source_(std::move(source)) {}

  Result<const model::Run*> Loaded();
  // Returns the content for the device that `request` selects. Keeps the last content.
  Result<const exporting::Content*> ContentFor(const report::Request& request, const std::string& question);
  Result<SharedTable> Series(const std::string& question);

  std::mutex one_at_a_time_;
  std::shared_ptr<const model::Source> source_;
  std::optional<model::Run> run_;
  std::optional<classify::Analysis> analysis_;
  std::optional<exporting::Content> content_;
  std::string content_question_;
};

}  // namespace vramscope::python
