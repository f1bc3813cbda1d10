// SPDX-License-Identifier: Apache-2.0
// Measures the viewer's speed while a script runs: how long it takes to show a file, and the frame times of
// each view.
//
// A script does the same each time. Therefore the times of two builds can be compared. A frame time is the
// CPU time of the drawing thread until the draw lists are ready, without the drawing by the GPU.
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
  // Measures one frame, from the construction to the destruction of this object.
  class Frame {
   public:
    Frame(FrameTimes* times, const Session& session);  // `times`: nullptr = does not measure
    ~Frame();
    Frame(const Frame&) = delete;
    Frame& operator=(const Frame&) = delete;

   private:
    FrameTimes* times_;
    const Session& session_;
    Tab tab_;
    double begin_ = 0;
  };

  // Construct this object when the opening of a file begins.
  FrameTimes();

  // Writes a JSON file with the keys "opening", "memory" and "views". Example of a view: "timeline":
  // {"frames": 90, "median_ms": 1.2, "p99_ms": 2.5, "longest_ms": 2.6}.
  [[nodiscard]] Status Write(const std::string& path, const Session& session) const;

 private:
  struct Reached {
    double seconds = 0;            // wall-clock time since the construction
    double processor_seconds = 0;  // CPU time of all threads since the construction
  };
  [[nodiscard]] Reached Now() const;
  void Note(const Session& session, Tab tab, double seconds);

  std::chrono::steady_clock::time_point begin_;
  double processor_begin_;
  std::optional<Reached> first_picture_;               // first picture, of the events read so far
  std::optional<Reached> timeline_;                    // timeline of the whole file, by category
  std::optional<Reached> everything_;                  // everything is loaded, including all addresses
  std::array<std::vector<double>, kTabCount> frames_;  // frame times after everything_, for each tab
};

}  // namespace vramscope::viewer
