// SPDX-License-Identifier: Apache-2.0
// The properties of a GPU, by model (gpus.def).
#pragma once

#include <cstdint>

namespace vramscope::simulated {

// Source of the size of a context (gpus.def).
enum ContextBasis {
  kMeasured,  // on a GPU with this chip and as many multiprocessors
  kDerived,   // from measured GPUs, by the number of resident threads
  kGiven,     // by the user
};

// Source of the total.
enum MemoryBasis {
  kReported,    // published by an owner of such a GPU
  kNominal,     // NVIDIA's nominal memory less 4 %, the usual difference
  kByCapacity,  // a stand-in for a GPU that is not a CUDA device
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
  const char* memory_source;  // who reported it, or the nominal value; nullptr = the user
};

// nullptr if there is none.
const Gpu* FindGpu(const char* name);
// Reads a row of the table, without the context's basis and with ';' between fields: "my-gpu;NVIDIA My
// GPU;8;6;28;12042;3;...". False if `text` is no row. Names in `gpu` are never freed.
bool ParseGpu(const char* text, Gpu* gpu);

// cuDeviceGetAttribute of device `device`; 0 = unsupported or unknown.
int AttributeOf(const Gpu& gpu, int device, int attribute);

// Resident blocks of a kernel on one multiprocessor, at least 1.
int ResidentBlocks(const Gpu& gpu, int block_size, uint64_t shared_bytes);

}  // namespace vramscope::simulated
