// SPDX-License-Identifier: Apache-2.0
// How long the viewer takes: from a file to its first picture and to everything, and for each frame, by view.
//
// Why part of scripts: a script is the same session each time, so its frames can be compared between builds.
// A frame's time is the processor time of its thread, from the state to the draw lists for the GPU. Drawing
// them depends on the machine. Other programs on the machine do not count.
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

  // Opening begins when this is created.
  FrameTimes();

  // "timeline": {"frames": 90, "median_ms": 1.2, "p99_ms": 2.5, "longest_ms": 2.6}, and how long opening
  // took.
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
  std::optional<Reached> first_picture_;               // of the memory that has been read so far
  std::optional<Reached> timeline_;                    // all of it, by category
  std::optional<Reached> everything_;                  // with all addresses
  std::array<std::vector<double>, kTabCount> frames_;  // once everything is loaded
};

}  // namespace vramscope::viewer
