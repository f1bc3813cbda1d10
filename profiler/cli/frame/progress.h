// SPDX-License-Identifier: Apache-2.0
// The line that shows the progress of long work on a terminal. The line is erased at the end:
//
//   Reading run.vms  ████████▌             43 %  2.1 M events/s  3 s left
//
// The line is printed on stderr. It is not shown with --quiet, for small files, or if stderr is not a
// terminal that can erase a line.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "profiler/cli/frame/arguments.h"
#include "profiler/model/run.h"
#include "profiler/snapshot/run_file.h"

namespace vramscope::cli {

using snapshot::RunFile;

// Number of events from which the line is shown.
inline constexpr uint64_t kLongWork = 100'000;

class ProgressLine {
 public:
  // `size` is the number of events of the work.
  ProgressLine(const Arguments& arguments, uint64_t size);
  ~ProgressLine() { Clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // Shows that `done` of `total` units are done. `thing` is the unit ("events"). Redraws at most ten times a
  // second.
  void Show(std::string_view what, std::string_view thing, uint64_t done, uint64_t total);
  // Shows `what` without a percentage, for work whose progress is unknown.
  void Show(std::string_view what);
  void Clear();

 private:
  void Draw(const std::string& text);

  bool shown_ = false;  // true if this line is ever shown
  bool drawn_ = false;
  Terminal terminal_;
  std::string what_;
  std::chrono::steady_clock::time_point begin_;
  std::chrono::steady_clock::time_point next_;
};

// Returns the text of the line, at most `terminal.width` - 1 columns.
[[nodiscard]] std::string ProgressText(std::string_view what, std::string_view thing, uint64_t done,
                                       uint64_t total, double seconds, const Terminal& terminal);

// Opens a trace or snapshot. --redact removes secrets from its command lines (text/redact.h).
[[nodiscard]] Result<std::shared_ptr<const model::Source>> OpenSource(const RunFile& file,
                                                                      const Arguments& arguments);
// Opens and reads the file, with a progress line.
[[nodiscard]] Result<model::Run> LoadRun(const RunFile& file, const Arguments& arguments);
// Fails if the file is not a trace.
[[nodiscard]] Result<model::Run> LoadTrace(const RunFile& file, const Arguments& arguments);
// Returns `source` with a progress line. The line shows `what` each time the source is read.
[[nodiscard]] std::shared_ptr<const model::Source> Watched(std::shared_ptr<const model::Source> source,
                                                           std::string what, ProgressLine& line);

}  // namespace vramscope::cli
