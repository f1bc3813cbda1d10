// SPDX-License-Identifier: Apache-2.0
// Facts about the build of an installed torch, read from its files. They decide which deep recorder (bridge)
// fits it.
//
// The bridge reads fields of PyTorch's structures, so it must be compiled with the layouts of the libraries
// in the process. Two builds with equal layout headers and the same std::string have equal layouts. Builds
// of one release for different CUDA versions are such builds.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace vramscope::collector {

// Headers from which the bridge reads layouts, relative to include/. They differ whenever a bridge for one
// torch would not fit another. scripts/wheel/bridges.py reads this list.
inline constexpr std::array kLayoutHeaders = {
    "ATen/record_function.h",         "ATen/core/ivalue.h",
    "ATen/core/function_schema.h",    "c10/core/TensorImpl.h",
    "c10/core/StorageImpl.h",         "torch/csrc/autograd/variable.h",
    "torch/csrc/autograd/function.h", "torch/csrc/autograd/functions/accumulate_grad.h",
};

// The text of the layout headers, one after the other. `root` holds include/ and lib/.
std::string LayoutText(const std::string& root);

// Releases up to 2.6 were built with the old std::string ABI, later ones with the new. The names of libc10's
// own functions show which.
bool UsesNewStringAbi(const std::string& root);

// True if torch's headers need C++20: recent ones refuse older standards with an #error that names it.
bool WantsCxx20(const std::string& root);

// The size of libtorch_cpu.so; 0 if there is none. It differs between builds, so the recorder inside the
// process can tell whether the process loaded this torch or another.
uint64_t TorchLibraryBytes(const std::string& root);

}  // namespace vramscope::collector
