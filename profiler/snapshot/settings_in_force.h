// SPDX-License-Identifier: Apache-2.0
// Expands PYTORCH_CUDA_ALLOC_CONF to the allocator_settings dict of a snapshot, which has every setting with
// its effective value.
//
// PyTorch: snapshot() in torch/csrc/cuda/memory_snapshot.cpp and Module.cpp, 2.4 to 2.15.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profiler/snapshot/snapshot.h"

namespace vramscope::snapshot {

// Returns only the text itself if the release would refuse it.
[[nodiscard]] std::vector<Setting> SettingsInForce(const std::string& text, std::string_view torch_version);

}  // namespace vramscope::snapshot
