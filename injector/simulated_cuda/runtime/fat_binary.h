// SPDX-License-Identifier: Apache-2.0
// Finds the GPUs that a module was compiled for, from its fat binary's headers.
//
// CUB chooses by a kernel's ptxVersion, and knows only the architectures that it was compiled for. PyTorch
// 2.15 runs its code for 8.6 on an RTX 4090 (8.9). With a ptxVersion of 8.9, CUB would return
// cudaErrorInvalidDeviceFunction.
//
//   wrapper (.nvFatBinSegment)   magic 0x466243b1, version, pointer to ─► container
//   container                    magic 0xba55ed50, header bytes, bytes, then the entries
//   entry                        kind (1 PTX, 2 machine code), header bytes, bytes, ...,
//                                architecture (86) at 28, flags at 40, unpacked bytes at 56
//
// nvcc's layout since CUDA 4. Compressed content is never read.
#pragma once

#include <cstdint>

namespace vramscope::simulated {

struct KernelVersion {
  int ptx = 0;     // 86
  int binary = 0;  // as in cudaFuncAttributes
};

// The version that a GPU of `architecture` (89) would run. It is the newest machine code of the GPU's major
// version that is not newer than the GPU, else the newest PTX. {0, 0} if nothing fits; {architecture,
// architecture} for an unknown format.
KernelVersion BestVersion(const void* wrapper, int architecture);

// Bytes of the module's machine code for that GPU, unpacked: an ELF file. 0 if there is none, or for an
// unknown format.
uint64_t MachineCodeBytes(const void* wrapper, int architecture);

}  // namespace vramscope::simulated
