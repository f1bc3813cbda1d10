// SPDX-License-Identifier: Apache-2.0
// The savings of re-runs that were kept with a trace, for reports.
#pragma once

#include <string>
#include <vector>

#include "profiler/model/source.h"
#include "profiler/report/savings.h"

namespace vramscope::experiment {

// Uses re-runs on the recorded GPU; if that was a real GPU, re-runs on the GPU of the first kept re-run. The
// usual variants come first, at most eight: each takes some tens of milliseconds to read. `path`: of the
// trace.
[[nodiscard]] std::vector<report::Saving> KeptSavings(const model::Source& source, const std::string& path,
                                                      const whatif::Baseline& recorded);

}  // namespace vramscope::experiment
