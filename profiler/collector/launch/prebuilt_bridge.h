// SPDX-License-Identifier: Apache-2.0
// The deep recorders (bridges) in a wheel, compiled for released versions of PyTorch
// (scripts/wheel/bridges.py). A machine without a C++ compiler can use these.
//
//   lib/vramscope/bridges/
//       index.txt
//           2.6.0 old 5a21c0de... torch-2.6.0-old.so    release, string ABI, SHA-256 of its layout headers
//           2.6.0 new 5a21c0de... torch-2.6.0-new.so
//           2.7.1 new 88f0b3d1... torch-2.7.0-new.so    the same code as for 2.7.0
//       torch-2.6.0-old.so ...
#pragma once

#include <optional>
#include <string>

#include "profiler/collector/launch/torch_location.h"

namespace vramscope::collector {

// The bridge in `folder` that fits `torch`: same release, std::string ABI and layout headers. If the headers
// were removed, only versions of published wheels fit, such as 2.6.0+cu124. Reads 2 MB: about 5 ms.
std::optional<std::string> FindPrebuiltBridge(const TorchLocation& torch, const std::string& folder);

}  // namespace vramscope::collector
