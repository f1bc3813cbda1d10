// SPDX-License-Identifier: Apache-2.0
// The properties of a GPU that a program can query, by model (gpus.def).
#pragma once

#include <cstdint>

namespace vramscope::simulated {

// How we know the size of a context (gpus.def).
enum ContextBasis {
  kMeasured,  // on a GPU with this chip and the same number of multiprocessors
  kDerived,   // from the measured GPUs, by the number of threads that can be resident
  kGiven,     // by the user
};

// How we know the total.
enum MemoryBasis {
  kReported,    // published by an owner of such a GPU
  kNominal,     // NVIDIA's nominal memory less 4 %, the usual difference to reported totals
  kByCapacity,  // a stand-in with the memory of a GPU that is not a CUDA device
};

struct Gpu {
  const char* name;     // the name users give: "h100-80gb"
  const char* product;  // the driver's name
  int major, minor;     // compute capability
  int multiprocessors;
  uint64_t total_mib;
  int l2_mib;
  int shared_kib;  // of a multiprocessor
  int threads_per_multiprocessor;
  int blocks_per_multiprocessor;
  int clock_mhz, memory_clock_mhz;
  int bus_bits;
  uint64_t context_mib;
  ContextBasis context_basis;
  MemoryBasis memory_basis;
  const char* memory_source;  // who reported it, or what is nominal; nullptr = the user
};

// nullptr if the table has no such model.
const Gpu* FindGpu(const char* name);
// Reads a row of the table as text, without the basis of the context, with ';' between the fields:
// "my-gpu;NVIDIA My GPU;8;6;28;12042;3;...". False if `text` is not a row. The names in `gpu` are copies that
// are never freed.
bool ParseGpu(const char* text, Gpu* gpu);

// cuDeviceGetAttribute of device number `device`; 0 for what the device cannot do or does not know.
int AttributeOf(const Gpu& gpu, int device, int attribute);

// Resident blocks of a kernel on one multiprocessor, at least 1: a launch beyond the limits is refused
// elsewhere.
int ResidentBlocks(const Gpu& gpu, int block_size, uint64_t shared_bytes);

}  // namespace vramscope::simulated
