// SPDX-License-Identifier: Apache-2.0
// What a program can ask a GPU about itself, by model (gpus.def).
#pragma once

#include <cstdint>

namespace vramscope::simulated {

// How the size of a context is known (gpus.def).
enum ContextBasis {
  kMeasured,  // on a GPU with this chip and as many multiprocessors
  kDerived,   // from the others, by the threads that can be resident
  kGiven,     // by the user
};

// How the total is known.
enum MemoryBasis {
  kReported,    // by somebody who has one
  kNominal,     // from NVIDIA, less what the reported ones lack
  kByCapacity,  // a stand-in with the memory of a GPU that is no CUDA device
};

struct Gpu {
  const char* name;     // as users ask for it: "h100-80gb"
  const char* product;  // as the driver calls it
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

// nullptr when there is no such model in the table.
const Gpu* FindGpu(const char* name);
// A row of the table as text but for how the context is known, with ';' between the fields: "my-gpu;NVIDIA My
// GPU;8;6;28;12042;3;...". False when it is none. The names in `gpu` are copies that are never freed.
bool ParseGpu(const char* text, Gpu* gpu);

// cuDeviceGetAttribute of device number `device`; 0 for what the device cannot do or does not know.
int AttributeOf(const Gpu& gpu, int device, int attribute);

// Resident blocks of a kernel on one multiprocessor, at least 1: a launch that asks for more than the limits
// is refused elsewhere.
int ResidentBlocks(const Gpu& gpu, int block_size, uint64_t shared_bytes);

}  // namespace vramscope::simulated
