// SPDX-License-Identifier: Apache-2.0
// The settings of the simulated device, from environment variables, which child processes inherit.
//
//   VRAMSCOPE_SIMULATED_GPU=h100-80gb[:N]  the model (gpus.def) and how many of it; default h100-80gb
//   VRAMSCOPE_SIMULATED_GPU_DESCRIPTION=   a row for a model that gpus.def lacks, as ParseGpu reads it
//                                          (gpu.h)
//   VRAMSCOPE_SIMULATED_CAPACITY=24GiB     memory of each device, instead of the model's own
//   VRAMSCOPE_SIMULATED_CONTEXT=300MiB     what each process takes on a device before its first allocation
//   VRAMSCOPE_SIMULATED_MODULE=2MiB        what each loaded module takes; default 0: it is part of the
//                                          context
//   VRAMSCOPE_SIMULATED_COPY_LIMIT=1MiB    larger copies into device memory are skipped, so that a
//                                          checkpoint of 140 GB needs no host memory
//   VRAMSCOPE_SIMULATED_LAG=1              how many launches the host is ahead of the device (streams.h)
//   VRAMSCOPE_SIMULATED_LATE=1             work is done when all threads of the program wait (pollers.h)
//   VRAMSCOPE_SIMULATED_LEDGER=FILE        where the ledger is written when a process ends (ledger.h); "%p"
//                                          becomes the process id
//   VRAMSCOPE_SIMULATED_JOURNAL=FILE       every change of one process's ledger, as it happens (journal.h)
//   VRAMSCOPE_SIMULATED_SHARED=FILE        where processes that share the devices see each other
//                                          (shared_use.h). Default: a file in the recording's folder;
//                                          without a recording, each process is alone
//   VRAMSCOPE_SIMULATED_KERNELS=0          code of kernels takes nothing, for tests that need PyTorch's
//                                          bytes exactly
//   VRAMSCOPE_SIMULATED_NCCL=700MiB        what each NCCL communicator takes, instead of nccl_memory.h's
//                                          figure
//   VRAMSCOPE_SIMULATED_CUDNN=92600        the release that cuDNN reports: PyTorch refuses a release
//                                          older than the one that it was compiled against
//   CUDA_VISIBLE_DEVICES=0,2               as for any CUDA program
#pragma once

#include <cstddef>
#include <cstdint>

#include "injector/simulated_cuda/device/gpu.h"

namespace vramscope::simulated {

inline constexpr uint64_t kMib = uint64_t{1} << 20;

inline constexpr int kMaxDevices = 16;

struct Settings {
  const Gpu* gpu;
  int machine_devices;        // number of devices of the machine
  int devices;                // number that this process sees (CUDA_VISIBLE_DEVICES)
  int physical[kMaxDevices];  // the machine's numbers of these devices
  uint64_t capacity;          // bytes of each device
  uint64_t context;           // bytes
  ContextBasis context_basis;
  uint64_t module;      // bytes
  uint64_t copy_limit;  // bytes
  uint64_t lag;         // launches
  bool late;            // lag counts for nothing
  const char* ledger;   // nullptr = not written
  const char* journal;  // the same
  const char* shared;   // nullptr = this process is alone
  bool count_kernels;   // false: code and printf take nothing
  bool nccl_measured;   // true: a communicator takes `nccl` bytes
  uint64_t nccl;        // bytes
};

// Read once. Invalid values count as absent. An unknown GPU gives a machine without devices.
const Settings& TheSettings();

// "24GiB", "512M", "4096": binary units; "24GB" is 24 x 1000^3. 0 if invalid.
uint64_t ParseBytes(const char* text);

// The machine's number of a visible device, and back; -1 = not visible.
int PhysicalNumber(int device);
int VisibleNumber(int physical);

// Keeps the devices in CUDA_VISIBLE_DEVICES, by number or UUID, up to the first missing one. None if one is
// named twice. nullptr = all.
void ChooseVisible(const char* text, Settings& settings);
// "GPU-7672616d-..." as nvidia-smi prints it.
void PutUuidText(int physical, char* text, size_t capacity);

// The settings that these texts give; nullptr = absent. `devices` is 0 for an unknown GPU.
Settings MakeSettings(const char* gpu, const char* capacity, const char* context, const char* copy_limit,
                      const char* lag, const char* ledger);

}  // namespace vramscope::simulated
