// SPDX-License-Identifier: Apache-2.0
// Finds the precompiled bridge for a version of PyTorch. A bridge is the library that records deep steps. The
// wheel of vramscope contains bridges for released versions of PyTorch (scripts/wheel/bridges.py), so that no
// C++ compiler is needed.
//
//   lib/vramscope/bridges/
//       index.txt
//           2.6.0 old 5a21c0de... torch-2.6.0-old.so    release, string ABI, SHA-256 of layout headers
//           2.6.0 new 5a21c0de... torch-2.6.0-new.so
//           2.7.1 new 88f0b3d1... torch-2.7.0-new.so    the same code as for 2.7.0
//       torch-2.6.0-old.so ...
#pragma once

#include <optional>
#include <string>

#include "profiler/collector/launch/torch_location.h"

namespace vramscope::collector {

// Returns the path of the bridge in `folder` for this PyTorch: same release, std::string ABI and layout
// headers (torch_headers.h). Returns nullopt if there is none. If PyTorch's headers were removed, only
// versions of published wheels (such as 2.6.0+cu124) have a bridge. Reads 2 MB of headers, which takes about
// 5 ms.
std::optional<std::string> FindPrebuiltBridge(const TorchLocation& torch, const std::string& folder);

}  // namespace vramscope::collector
