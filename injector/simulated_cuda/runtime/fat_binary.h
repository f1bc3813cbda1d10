// SPDX-License-Identifier: Apache-2.0
// Finds which GPUs a module was compiled for, from the headers of its fat binary.
//
// Why: CUB chooses how to sort and reduce by a kernel's ptxVersion, and knows only the architectures that it
// was compiled for. On an RTX 4090 (8.9) PyTorch 2.15 runs its code for 8.6. If the simulation reported 8.9,
// CUB would return cudaErrorInvalidDeviceFunction, which no real GPU does.
//
//   wrapper (.nvFatBinSegment)   magic 0x466243b1, version, pointer to ─► container
//   container                    magic 0xba55ed50, header bytes, bytes, then the entries
//   entry                        kind (1 PTX, 2 machine code), header bytes, bytes, ...,
//                                architecture (86) at 28, flags at 40, unpacked bytes at 56
//
// nvcc has written this layout since CUDA 4. The compressed content (LZ4; Zstandard since CUDA 13) is never
// read.
#pragma once

#include <cstdint>

namespace vramscope::simulated {

struct KernelVersion {
  int ptx = 0;     // 86
  int binary = 0;  // as in cudaFuncAttributes
};

// What a GPU of `architecture` (89) would run of the module: the newest machine code of its own major version
// that is not newer than the GPU, otherwise the newest PTX. {0, 0} if nothing fits: PyTorch 2.15 has nothing
// for a V100. {architecture, architecture} if the wrapper has an unknown format.
KernelVersion BestVersion(const void* wrapper, int architecture);

// The bytes of machine code in the module for that GPU, unpacked: an ELF file with code, constants and
// tables. 0 if there is none, or if the wrapper has an unknown format.
uint64_t MachineCodeBytes(const void* wrapper, int architecture);

}  // namespace vramscope::simulated
