// SPDX-License-Identifier: Apache-2.0
// Windows has no signal at which a file could still be removed: Ctrl-C leaves a ".part" file.
#include "profiler/collector/output/unfinished_files.h"

namespace vramscope::collector {

void RemoveOnSignal(const std::string&) {}
void KeepOnSignal(const std::string&) {}

}  // namespace vramscope::collector
