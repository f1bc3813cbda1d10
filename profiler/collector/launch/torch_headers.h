// SPDX-License-Identifier: Apache-2.0
// Facts about the build of an installed torch, read from its files. They decide which deep recorder (bridge)
// fits.
//
// Two builds with equal layout headers and the same std::string ABI have equal layouts.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace vramscope::collector {

// Headers from which the bridge reads layouts, relative to include/. scripts/wheel/bridges.py reads this
// list.
inline constexpr std::array kLayoutHeaders = {
    "ATen/record_function.h",         "ATen/core/ivalue.h",
    "ATen/core/function_schema.h",    "c10/core/TensorImpl.h",
    "c10/core/StorageImpl.h",         "torch/csrc/autograd/variable.h",
    "torch/csrc/autograd/function.h", "torch/csrc/autograd/functions/accumulate_grad.h",
};

// The concatenated layout headers. `root` contains include/ and lib/.
std::string LayoutText(const std::string& root);

// Releases up to 2.6 use the old std::string ABI, later releases the new ABI. Derived from the names of
// libc10's functions.
bool UsesNewStringAbi(const std::string& root);

// True if torch's headers refuse older standards than C++20.
bool WantsCxx20(const std::string& root);

// The size of libtorch_cpu.so; 0 if there is none. The size differs between builds, so it identifies this
// torch.
uint64_t TorchLibraryBytes(const std::string& root);

}  // namespace vramscope::collector
