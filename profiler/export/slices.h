// SPDX-License-Identifier: Apache-2.0
// Steps, phases, modules and other ranges of a run as nested intervals, for trace viewers.
#pragma once

#include <string>
#include <vector>

#include "profiler/export/content.h"

namespace vramscope::exporting {

struct Track {
  enum class Kind : uint8_t { kSteps, kPhases, kThread } kind{};
  model::ProcessIndex process = 0;
  model::ThreadIndex thread = 0;  // kThread
  std::string name;               // cleaned
};

// The begin or the end of a range. The edges of a track are in order. Each end closes the latest open range.
struct Edge {
  size_t track = 0;
  uint64_t time_ns = 0;
  bool begin = false;
  std::string name;       // for a begin; cleaned
  const char* kind = "";  // for a begin: "step", "phase", "module", ...
};

struct Slices {
  std::vector<Track> tracks;  // without empty tracks
  std::vector<Edge> edges;    // by track
};

// Ranges that do not nest (some NVTX ranges) are left out. A range without a recorded end, or with an end
// after the enclosing range, ends with the enclosing range.
[[nodiscard]] Slices FindSlices(const Content& content);

}  // namespace vramscope::exporting
