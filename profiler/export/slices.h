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
  std::string name;               // cleaned by text::Clean
};

// The begin or the end of a range. The edges of a track are in order of time. Each end closes the open range
// that began last.
struct Edge {
  size_t track = 0;
  uint64_t time_ns = 0;
  bool begin = false;
  std::string name;       // for a begin; cleaned by text::Clean
  const char* kind = "";  // for a begin: "step", "phase", "module", ...
};

struct Slices {
  std::vector<Track> tracks;  // no track is empty
  std::vector<Edge> edges;    // in order of track
};

// Returns the ranges of the run. NVTX ranges from nvtxRangeStart are left out, because they may not nest. If
// a range has no recorded end, or an end after the end of the enclosing range, it ends with the enclosing
// range.
[[nodiscard]] Slices FindSlices(const Content& content);

}  // namespace vramscope::exporting
