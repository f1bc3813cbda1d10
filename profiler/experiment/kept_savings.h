// SPDX-License-Identifier: Apache-2.0
// What the re-runs that were kept with a trace would save, for reports.
#pragma once

#include <string>
#include <vector>

#include "profiler/model/source.h"
#include "profiler/report/savings.h"

namespace vramscope::experiment {

// Of re-runs on the recorded GPU, or where that was a real one on the GPU of the first. The usual ones before
// others, at most eight: each is read in some tens of milliseconds. `path`: of the trace.
[[nodiscard]] std::vector<report::Saving> KeptSavings(const model::Source& source, const std::string& path,
                                                      const whatif::Baseline& recorded);

}  // namespace vramscope::experiment
