// SPDX-License-Identifier: Apache-2.0
// Computes the savings of a report that come from variants: re-runs with a change that are stored with the
// trace.
#pragma once

#include <string>
#include <vector>

#include "profiler/model/source.h"
#include "profiler/report/savings.h"

namespace vramscope::experiment {

// Returns at most eight savings, the usual variants first. All savings are for one GPU: the simulated GPU of
// the recording, or otherwise the GPU of the first variant. Reading a variant takes some tens of
// milliseconds. `path`: path of the trace.
[[nodiscard]] std::vector<report::Saving> KeptSavings(const model::Source& source, const std::string& path,
                                                      const whatif::Baseline& recorded);

}  // namespace vramscope::experiment
