// SPDX-License-Identifier: Apache-2.0
// How long the viewer takes: from a file to its first picture and to everything, and for each frame, by view.
//
// Why beside scripts: a script is the same session each time, so its frames can be compared from build to
// build. A frame's time is the processor time of its thread from what is shown to the lists that a GPU gets;
// drawing them depends on the machine, and other programs on it count for nothing.
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
  // A frame that begins when this is made and ends with it.
  class Frame {
   public:
    Frame(FrameTimes* times, const Session& session);  // nullptr: nobody wants to know
    ~Frame();
    Frame(const Frame&) = delete;
    Frame& operator=(const Frame&) = delete;

   private:
    FrameTimes* times_;
    const Session& session_;
    Tab tab_;
    double begin_ = 0;
  };

  // Opening begins when this is made.
  FrameTimes();

  // "timeline": {"frames": 90, "median_ms": 1.2, "p99_ms": 2.5, "longest_ms": 2.6}, and how long opening
  // took.
  [[nodiscard]] Status Write(const std::string& path, const Session& session) const;

 private:
  struct Reached {
    double seconds = 0;            // on the wall
    double processor_seconds = 0;  // of all threads
  };
  [[nodiscard]] Reached Now() const;
  void Note(const Session& session, Tab tab, double seconds);

  std::chrono::steady_clock::time_point begin_;
  double processor_begin_;
  std::optional<Reached> first_picture_;               // of the memory that has been read so far
  std::optional<Reached> timeline_;                    // all of it, by category
  std::optional<Reached> everything_;                  // with all addresses
  std::array<std::vector<double>, kTabCount> frames_;  // once everything is there
};

}  // namespace vramscope::viewer
