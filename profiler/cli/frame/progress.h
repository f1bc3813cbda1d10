// SPDX-License-Identifier: Apache-2.0
// The line that long work shows on a terminal, and erases when it is done:
//
//   Reading run.vms  ████████▌             43 %  2.1 M events/s  3 s left
//
// On standard error, so that output can be sent elsewhere; nothing in pipes and files, for terminals that
// cannot erase, and with --quiet. Why by the size of the work and not after some time: what is read before
// anyone could look shows nothing, on every machine alike.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "profiler/cli/frame/arguments.h"
#include "profiler/model/run.h"

namespace vramscope::cli {

// Traces below that are read in a moment.
inline constexpr uint64_t kLongWork = 100'000;

class ProgressLine {
 public:
  // `size`: how large the work is, in events.
  ProgressLine(const Arguments& arguments, uint64_t size);
  ~ProgressLine() { Clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // `done` of `total` things are done of `what`; drawn ten times a second. Cheap where nothing is shown.
  void Show(std::string_view what, std::string_view thing, uint64_t done, uint64_t total);
  // Work that cannot tell how far it is.
  void Show(std::string_view what);
  void Clear();

 private:
  void Draw(const std::string& text);

  bool shown_ = false;  // whether anything ever is
  bool drawn_ = false;
  Terminal terminal_;
  std::string what_;
  std::chrono::steady_clock::time_point begin_;  // of `what_`
  std::chrono::steady_clock::time_point next_;   // when it is drawn again
};

// The line's text, at most `terminal.width` - 1 columns.
[[nodiscard]] std::string ProgressText(std::string_view what, std::string_view thing, uint64_t done,
                                       uint64_t total, double seconds, const Terminal& terminal);

// A trace or snapshot, whose command lines are without secrets when --redact is given (text/redact.h).
[[nodiscard]] Result<std::shared_ptr<const model::Source>> OpenSource(const std::string& path,
                                                                      const Arguments& arguments);
// The same, read under such a line.
[[nodiscard]] Result<model::Run> LoadRun(const std::string& path, const Arguments& arguments);
// A trace alone; an error says when it is none.
[[nodiscard]] Result<model::Run> LoadTrace(const std::string& path, const Arguments& arguments);
// The same source, whose every reading is shown as `what`.
[[nodiscard]] std::shared_ptr<const model::Source> Watched(std::shared_ptr<const model::Source> source,
                                                           std::string what, ProgressLine& line);

}  // namespace vramscope::cli
