// SPDX-License-Identifier: Apache-2.0
// Measures the viewer's speed: the times from opening to the first picture, the timeline and the complete
// view; and the times of frames, by view.
//
// A script is the same session each time, so builds can be compared. A frame's time is the thread's CPU time
// until the draw lists are ready. The GPU's drawing is not included.
#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "trace_format/result.h"
#include "viewer/model/session.h"

namespace vramscope::viewer {

class FrameTimes {
 public:
  // A frame that begins and ends with this object.
  class Frame {
   public:
    Frame(FrameTimes* times, const Session& session);  // nullptr: not measured
    ~Frame();
    Frame(const Frame&) = delete;
    Frame& operator=(const Frame&) = delete;

   private:
    FrameTimes* times_;
    const Session& session_;
    Tab tab_;
    double begin_ = 0;
  };

  // Opening begins here.
  FrameTimes();

  // {"opening", "memory", "views"}, with views such as "timeline": {"frames": 90, "median_ms": 1.2, "p99_ms":
  // 2.5, "longest_ms": 2.6}.
  [[nodiscard]] Status Write(const std::string& path, const Session& session) const;

 private:
  struct Reached {
    double seconds = 0;            // wall-clock time
    double processor_seconds = 0;  // of all threads
  };
  [[nodiscard]] Reached Now() const;
  void Note(const Session& session, Tab tab, double seconds);

  std::chrono::steady_clock::time_point begin_;
  double processor_begin_;
  std::optional<Reached> first_picture_;               // of the memory read so far
  std::optional<Reached> timeline_;                    // all of it, by category
  std::optional<Reached> everything_;                  // with all addresses
  std::array<std::vector<double>, kTabCount> frames_;  // once everything is loaded
};

}  // namespace vramscope::viewer
