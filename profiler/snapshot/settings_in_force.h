// SPDX-License-Identifier: Apache-2.0
// PYTORCH_CUDA_ALLOC_CONF as the dict allocator_settings of a snapshot, which has every setting with the
// value in force.
//
// PyTorch: snapshot() in torch/csrc/cuda/memory_snapshot.cpp and Module.cpp, 2.4 to 2.15.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profiler/snapshot/snapshot.h"

namespace vramscope::snapshot {

// Only the text itself where the release would refuse it.
[[nodiscard]] std::vector<Setting> SettingsInForce(const std::string& text, std::string_view torch_version);

}  // namespace vramscope::snapshot
