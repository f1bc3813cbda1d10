// SPDX-License-Identifier: Apache-2.0
// Seals on systems where nothing is recorded: there is no key, so no program is sealed.
#include "profiler/collector/output/seal.h"

namespace vramscope::collector {

std::string SealOf(std::string_view) { return ""; }
bool IsSealedHere(std::string_view, std::string_view) { return false; }

}  // namespace vramscope::collector
