// SPDX-License-Identifier: Apache-2.0
// Unfinished files stay on Windows: no signal gives time to remove them, so Ctrl-C leaves a ".part" file.
#include "profiler/collector/output/unfinished_files.h"

namespace vramscope::collector {

void RemoveOnSignal(const std::string&) {}
void KeepOnSignal(const std::string&) {}

}  // namespace vramscope::collector
