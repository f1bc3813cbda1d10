// SPDX-License-Identifier: Apache-2.0
// The savings that a report lists: those of the re-runs that are stored with the trace.
#pragma once

#include <string>
#include <vector>

#include "profiler/model/source.h"
#include "profiler/report/savings.h"

namespace vramscope::experiment {

// All savings are for one GPU: the recorded GPU if it was simulated and has kept re-runs, otherwise the GPU
// of the first kept re-run. Returns at most eight, with the usual variants first, because each takes some
// tens of milliseconds to read. `path` is the path of the trace.
[[nodiscard]] std::vector<report::Saving> KeptSavings(const model::Source& source, const std::string& path,
                                                      const whatif::Baseline& recorded);

}  // namespace vramscope::experiment
