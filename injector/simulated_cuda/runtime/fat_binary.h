// SPDX-License-Identifier: Apache-2.0
// Finds which of a module's compiled versions a GPU would run, from the headers of the module's fat binary.
//
// cudaFuncGetAttributes must return this version as ptxVersion. CUB selects kernel settings by ptxVersion and
// supports only the architectures that CUB was compiled for. Example: on an RTX 4090 (8.9), PyTorch 2.15 runs
// its code for 8.6. If ptxVersion were 8.9, CUB would return cudaErrorInvalidDeviceFunction.
//
//   wrapper (.nvFatBinSegment)   magic 0x466243b1, version, pointer to ─► container
//   container                    magic 0xba55ed50, header bytes, bytes, then the entries
//   entry                        kind (1 PTX, 2 machine code), header bytes, bytes, ...,
//                                architecture (86) at 28, flags at 40, unpacked bytes at 56
//
// nvcc has written this layout since CUDA 4. This code does not decompress entries.
#pragma once

#include <cstdint>

namespace vramscope::simulated {

struct KernelVersion {
  int ptx = 0;     // cudaFuncAttributes::ptxVersion, 86 for 8.6
  int binary = 0;  // cudaFuncAttributes::binaryVersion
};

// Returns the version that a GPU of `architecture` (89 for 8.9) would run: the newest machine code of the
// GPU's major version that is not newer than the GPU. If there is none: the newest PTX that is not newer than
// the GPU. Returns {0, 0} if the GPU can run neither; {architecture, architecture} if the format is unknown.
KernelVersion BestVersion(const void* wrapper, int architecture);

// Returns the decompressed size in bytes of the machine code (an ELF file) that the GPU would run. 0 if there
// is no such machine code or if the format is unknown.
uint64_t MachineCodeBytes(const void* wrapper, int architecture);

}  // namespace vramscope::simulated
