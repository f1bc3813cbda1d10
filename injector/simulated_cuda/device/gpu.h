// SPDX-License-Identifier: Apache-2.0
// The properties of each GPU model that can be simulated (gpus.def).
#pragma once

#include <cstdint>

namespace vramscope::simulated {

// How the size of a CUDA context is known (gpus.def).
enum ContextBasis {
  kMeasured,  // measured on a GPU with the same chip and number of multiprocessors
  kDerived,   // derived from measured GPUs, by the number of resident threads
  kGiven,     // given by the user
};

// How the total memory is known.
enum MemoryBasis {
  kReported,    // published by an owner of such a GPU
  kNominal,     // NVIDIA's nominal memory less 4 %, the usual difference
  kByCapacity,  // a stand-in for a GPU that is not a CUDA device
};

struct Gpu {
  const char* name;     // the name in options: "h100-80gb"
  const char* product;  // the name that the driver reports: "NVIDIA H100 80GB HBM3"
  int major, minor;     // compute capability
  int multiprocessors;
  uint64_t total_mib;
  int l2_mib;
  int shared_kib;  // shared memory of one multiprocessor
  int threads_per_multiprocessor;
  int blocks_per_multiprocessor;
  int clock_mhz, memory_clock_mhz;
  int bus_bits;
  uint64_t context_mib;
  ContextBasis context_basis;
  MemoryBasis memory_basis;
  const char* memory_source;  // text: who reported the total, or the nominal value; nullptr = the user
};

// Returns the GPU with this Gpu::name; nullptr if there is none.
const Gpu* FindGpu(const char* name);
// Reads a GPU that the user describes. `text` has the first 14 fields of a row of gpus.def, separated by ';':
// "my-gpu;NVIDIA My GPU;8;6;28;12042;3;...". False if fields are missing. The names in `gpu` are never freed.
bool ParseGpu(const char* text, Gpu* gpu);

// Returns the result of cuDeviceGetAttribute for `device`; 0 = unsupported or unknown attribute.
int AttributeOf(const Gpu& gpu, int device, int attribute);

// Returns how many thread blocks of a kernel one multiprocessor can run at a time, at least 1.
// `shared_bytes`: shared memory of one thread block.
int ResidentBlocks(const Gpu& gpu, int block_size, uint64_t shared_bytes);

}  // namespace vramscope::simulated
