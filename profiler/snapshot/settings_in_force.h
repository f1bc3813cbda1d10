// SPDX-License-Identifier: Apache-2.0
// Makes the allocator_settings dict of a snapshot from PYTORCH_CUDA_ALLOC_CONF. The dict has the value of
// every setting, including settings with default values.
//
// PyTorch: snapshot() in torch/csrc/cuda/memory_snapshot.cpp and Module.cpp, 2.4 to 2.15.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profiler/snapshot/snapshot.h"

namespace vramscope::snapshot {

// `text`: the value of PYTORCH_CUDA_ALLOC_CONF. Returns only PYTORCH_CUDA_ALLOC_CONF itself if the PyTorch
// release does not accept `text`.
[[nodiscard]] std::vector<Setting> SettingsInForce(const std::string& text, std::string_view torch_version);

}  // namespace vramscope::snapshot
