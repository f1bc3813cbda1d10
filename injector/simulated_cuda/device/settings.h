// SPDX-License-Identifier: Apache-2.0
// The settings of the simulated GPU. The settings come from environment variables, so child processes inherit
// them.
//
//   VRAMSCOPE_SIMULATED_GPU=h100-80gb[:N]  the GPU model (gpus.def) and the number of GPUs; default h100-80gb
//   VRAMSCOPE_SIMULATED_GPU_DESCRIPTION=   a description of a GPU model that gpus.def lacks, as ParseGpu
//                                          (gpu.h) reads it
//   VRAMSCOPE_SIMULATED_CAPACITY=24GiB     memory of each device, instead of the model's own
//   VRAMSCOPE_SIMULATED_CONTEXT=300MiB     device memory that each process's CUDA context takes
//   VRAMSCOPE_SIMULATED_MODULE=2MiB        device memory of each loaded module; default 0, because it is
//                                          counted in the context
//   VRAMSCOPE_SIMULATED_COPY_LIMIT=1MiB    larger copies into device memory are skipped, so that a
//                                          checkpoint of 140 GB needs no host memory
//   VRAMSCOPE_SIMULATED_LAG=1              number of launches that the host runs ahead of the device
//                                          (streams.h)
//   VRAMSCOPE_SIMULATED_LATE=1             work completes only when all threads of the program wait
//                                          (pollers.h)
//   VRAMSCOPE_SIMULATED_LEDGER=FILE        the ledger of the device memory (ledger.h), written to FILE when a
//                                          process ends; in the file name, "%p" becomes the process id
//   VRAMSCOPE_SIMULATED_JOURNAL=FILE       every change of one process's ledger, written as it happens
//                                          (journal.h)
//   VRAMSCOPE_SIMULATED_SHARED=FILE        the file through which processes see each other's use of the
//                                          devices (shared_use.h). Default: a file in the recording's folder;
//                                          without a recording, each process sees only its own use
//   VRAMSCOPE_SIMULATED_KERNELS=0          kernel code takes no device memory, for tests that compare
//                                          PyTorch's bytes exactly
//   VRAMSCOPE_SIMULATED_NCCL=700MiB        device memory of each NCCL communicator, instead of the figure in
//                                          nccl_memory.h
//   VRAMSCOPE_SIMULATED_CUDNN=92600        the version that cuDNN reports: PyTorch refuses a version
//                                          older than the one that it was compiled against
//   CUDA_VISIBLE_DEVICES=0,2               the visible devices, as for any CUDA program
#pragma once

#include <cstddef>
#include <cstdint>

#include "injector/simulated_cuda/device/gpu.h"

namespace vramscope::simulated {

inline constexpr uint64_t kMib = uint64_t{1} << 20;

inline constexpr int kMaxDevices = 16;

struct Settings {
  const Gpu* gpu;
  int machine_devices;        // number of GPUs in the simulated machine
  int devices;                // number of GPUs that this process sees (CUDA_VISIBLE_DEVICES)
  int physical[kMaxDevices];  // physical device number of each visible device
  uint64_t capacity;          // bytes of memory of each GPU
  uint64_t context;           // bytes
  ContextBasis context_basis;
  uint64_t module;      // bytes
  uint64_t copy_limit;  // bytes
  uint64_t lag;         // launches that the host runs ahead of the device
  bool late;            // VRAMSCOPE_SIMULATED_LATE is set; `lag` is ignored
  const char* ledger;   // file name; nullptr = not written
  const char* journal;  // file name; nullptr = not written
  const char* shared;   // file name; nullptr = this process sees only its own use
  bool count_kernels;   // false: kernel code and the printf buffer take no memory
  bool nccl_measured;   // true: each NCCL communicator takes `nccl` bytes
  uint64_t nccl;        // bytes
};

// Returns the settings, which are read at the first call. An invalid value is ignored, as if the variable
// were not set. With an unknown GPU model, the machine has no devices.
const Settings& TheSettings();

// Parses a size such as "24GiB", "512M" or "4096" (bytes). "M" and "MiB" are 1024^2 bytes, "GB" is 1000^3
// bytes. Returns 0 if `text` is invalid.
uint64_t ParseBytes(const char* text);

// Convert between the number of a visible device and its physical number. Both return -1 if the device is not
// visible.
int PhysicalNumber(int device);
int VisibleNumber(int physical);

// Sets the visible devices in `settings` from `text`, the value of CUDA_VISIBLE_DEVICES: numbers or UUIDs. As
// in CUDA, the devices after the first one that does not exist are invisible. If a device is named twice, no
// device is visible. If `text` is nullptr, all devices are visible.
void ChooseVisible(const char* text, Settings& settings);
// Writes the device's UUID as nvidia-smi prints it: "GPU-7672616d-...".
void PutUuidText(int physical, char* text, size_t capacity);

// Returns the settings for the given values of the environment variables; nullptr = not set. `devices` is 0
// if the GPU model is unknown.
Settings MakeSettings(const char* gpu, const char* capacity, const char* context, const char* copy_limit,
                      const char* lag, const char* ledger);

}  // namespace vramscope::simulated
