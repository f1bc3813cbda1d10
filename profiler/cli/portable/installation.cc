// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/launch/installation.h"

namespace vramscope::collector {

Result<std::string> FindWebViewer() {
  return Error{"only vramscope for Linux contains the viewer for browsers. Create this page on Linux."};
}

}  // namespace vramscope::collector
