// SPDX-License-Identifier: Apache-2.0
// A trace or snapshot that Python has opened. Everything is read when it is first needed and then kept.
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

  // The table `name`: events, blocks, series, stacks, operators or segments. `question`: lines "key=value"
  // with the keys device, process, rank and steps ("3" or "2:5"), as the options of `vramscope report`; and
  // all=1 for the series of all devices. Any thread may call; tables are made one at a time.
  [[nodiscard]] Result<SharedTable> TableNamed(const std::string& name, const std::string& question);

 private:
  explicit OpenedRun(std::shared_ptr<const model::Source> source) : source_(std::move(source)) {}

  Result<const model::Run*> Loaded();
  // The content for the device that the request chooses. The last content is kept.
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
