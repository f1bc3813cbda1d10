// SPDX-License-Identifier: Apache-2.0
// The savings in a report that come from stored variants.
#pragma once

#include <string>
#include <vector>

#include "profiler/model/source.h"
#include "profiler/report/savings.h"

namespace vramscope::experiment {

// All savings are for one GPU: the simulated GPU of the recording, or the GPU of the first variant. Returns
// at most eight, the usual variants first. Each takes some tens of milliseconds to read. `path`: of the
// trace.
[[nodiscard]] std::vector<report::Saving> KeptSavings(const model::Source& source, const std::string& path,
                                                      const whatif::Baseline& recorded);

}  // namespace vramscope::experiment
