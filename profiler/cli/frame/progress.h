// SPDX-License-Identifier: Apache-2.0
// The progress line of long work on a terminal, erased at the end:
//
//   Reading run.vms  ████████▌             43 %  2.1 M events/s  3 s left
//
// Printed on stderr. Not shown with --quiet, for small files, or if stderr is no terminal that can erase.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "profiler/cli/frame/arguments.h"
#include "profiler/model/run.h"
#include "profiler/snapshot/run_file.h"

namespace vramscope::cli {

using snapshot::RunFile;

// In events. Shorter work shows no line.
inline constexpr uint64_t kLongWork = 100'000;

class ProgressLine {
 public:
  // `size`: number of events.
  ProgressLine(const Arguments& arguments, uint64_t size);
  ~ProgressLine() { Clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // Shows that `done` of `total` units are done. `thing` is the unit ("events"). Redraws at most ten times a
  // second. Cheap if nothing is shown.
  void Show(std::string_view what, std::string_view thing, uint64_t done, uint64_t total);
  // For work whose progress is not known.
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

// The line's text, at most `terminal.width` - 1 columns.
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
