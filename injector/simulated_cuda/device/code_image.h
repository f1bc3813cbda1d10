// SPDX-License-Identifier: Apache-2.0
// Computes the GPU memory of code that a program loads through the driver (cuModuleLoadData,
// cuLibraryLoadData).
//
//   cubin        an ELF file: its loaded sections (SHF_ALLOC: code, constants, variables), as given in each
//                section header; symbols and debugging information are never loaded and do not count
//   fat binary   the machine code in it that a GPU of this architecture runs (runtime/fat_binary.h)
//   PTX          text that the driver would compile; counts as kPtxPercent of its length, without comments
//                and debugging information
//
// Sources: CUDA Binary Utilities ("cubin is ELF-formatted") and the ELF specification (gABI 4.1, "Section
// Header").
#pragma once

#include <cstdint>

namespace vramscope::simulated {

// Returns the bytes that the loaded image takes on a GPU of `architecture` (89 for compute capability 8.9).
// Returns 0 for unknown formats. The image must be complete, because only its headers contain its length. Any
// thread may call this.
uint64_t LoadedBytes(const void* image, int architecture);

}  // namespace vramscope::simulated
