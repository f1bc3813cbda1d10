// SPDX-License-Identifier: Apache-2.0
// Reads facts about the build of an installed torch from its files. The collector uses them to choose the
// bridge: the library that records deep steps, which is compiled against torch's headers.
//
// A bridge fits a torch if both were built with equal layout headers and the same std::string ABI.
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

// In all functions, `root` is the folder of torch that contains include/ and lib/.

// Returns the concatenated text of the layout headers.
std::string LayoutText(const std::string& root);

// True if torch was built with the new std::string ABI (PyTorch's wheels after 2.6). The names of libc10's
// functions contain the ABI.
bool UsesNewStringAbi(const std::string& root);

// True if torch's headers need C++20.
bool WantsCxx20(const std::string& root);

// Returns the size of libtorch_cpu.so in bytes; 0 if there is none. The size identifies a build of torch,
// because it differs between builds.
uint64_t TorchLibraryBytes(const std::string& root);

}  // namespace vramscope::collector
