// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/launch/installation.h"

namespace vramscope::collector {

Result<std::string> FindWebViewer() {
  return Error{"the viewer for browsers comes with vramscope for Linux. Create this page there."};
}

}  // namespace vramscope::collector
