// SPDX-License-Identifier: Apache-2.0
// How much of a GPU the code takes that a program loads through the driver (cuModuleLoadData,
// cuLibraryLoadData).
//
//   cubin        an ELF file: its sections that are loaded (SHF_ALLOC: code, constants, variables), as the
//                header of each says; what is never loaded (symbols, debugging information) is left out
//   fat binary   its machine code for that GPU (runtime/fat_binary.h)
//   PTX          text, which the driver would compile: kPtxPercent of its length
//
// CUDA Binary Utilities ("cubin is ELF-formatted") and the ELF specification (gABI 4.1, "Section Header").
#pragma once

#include <cstdint>

namespace vramscope::simulated {

// Bytes of the image when it is loaded on a GPU of `architecture` (89). 0 for what is none of these. The
// image must be whole, as CUDA requires: it has no length but the one in its headers. Any thread.
uint64_t LoadedBytes(const void* image, int architecture);

}  // namespace vramscope::simulated
