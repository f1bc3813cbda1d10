// SPDX-License-Identifier: Apache-2.0
// Steps, phases, modules and the other ranges of a run as intervals that nest, which is all that trace
// viewers draw.
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

// A begin or an end. Those of a track are in order, and each end closes the begin before it that is open.
struct Edge {
  size_t track = 0;
  uint64_t time_ns = 0;
  bool begin = false;
  std::string name;       // of a begin; cleaned
  const char* kind = "";  // of a begin: "step", "phase", "module", ...
};

struct Slices {
  std::vector<Track> tracks;  // only those that have anything
  std::vector<Edge> edges;    // by track
};

// Ranges that do not nest (NVTX ranges that were started and end anywhere) are left out; one whose end was
// not seen, or comes after that of the range around it, ends with that.
[[nodiscard]] Slices FindSlices(const Content& content);

}  // namespace vramscope::exporting
