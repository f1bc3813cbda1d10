// SPDX-License-Identifier: Apache-2.0
// What the simulated device is asked to be, from environment variables, so that child processes get the same
// one.
//
// clang-format off
//   VRAMSCOPE_SIMULATED_GPU=h100-80gb[:N]  the model (gpus.def) and how many of it; default h100-80gb
//   VRAMSCOPE_SIMULATED_GPU_DESCRIPTION=   a row for a model that gpus.def lacks, as ParseGpu reads it (gpu.h)
//   VRAMSCOPE_SIMULATED_CAPACITY=24GiB     instead of the model's own; of each device
//   VRAMSCOPE_SIMULATED_CONTEXT=300MiB     what each process takes on a device before its first allocation
//   VRAMSCOPE_SIMULATED_MODULE=2MiB        what each loaded module takes; default nothing: the context has it all
//   VRAMSCOPE_SIMULATED_COPY_LIMIT=1MiB    larger copies into device memory are not carried out: a checkpoint of
//                                          140 GB needs no host memory
//   VRAMSCOPE_SIMULATED_LAG=1              launches that the host is ahead of the device (streams.h)
//   VRAMSCOPE_SIMULATED_LEDGER=FILE        where the ledger is written when a process ends (ledger.h); "%p" becomes
//                                          the process id
//   VRAMSCOPE_SIMULATED_JOURNAL=FILE       every change of the ledger, as it happens (journal.h); of one process
//   VRAMSCOPE_SIMULATED_SHARED=FILE        where processes that share the devices see each other (shared_use.h); by
//                                          default a file in the recording's folder; without one each is alone
//   VRAMSCOPE_SIMULATED_KERNELS=0          the code of kernels takes nothing, for tests that need to the byte what PyTorch takes
//   VRAMSCOPE_SIMULATED_NCCL=700MiB        what each NCCL communicator takes, instead of nccl_memory.h's figure
//   VRAMSCOPE_SIMULATED_CUDNN=92600        the release that cuDNN says it is: PyTorch refuses one older than it was
//                                          compiled against
//   CUDA_VISIBLE_DEVICES=0,2               as for any CUDA program
// clang-format on
#pragma once

#include <cstddef>
#include <cstdint>

#include "injector/simulated_cuda/device/gpu.h"

namespace vramscope::simulated {

inline constexpr uint64_t kMib = uint64_t{1} << 20;

inline constexpr int kMaxDevices = 16;

struct Settings {
  const Gpu* gpu;
  int machine_devices;        // that the machine has
  int devices;                // that this process sees: all, or those of CUDA_VISIBLE_DEVICES
  int physical[kMaxDevices];  // of those, the machine's numbers
  uint64_t capacity;          // bytes of each device
  uint64_t context;           // bytes
  ContextBasis context_basis;
  uint64_t module;      // bytes
  uint64_t copy_limit;  // bytes
  uint64_t lag;         // launches
  const char* ledger;   // nullptr = nowhere
  const char* journal;  // the same
  const char* shared;   // nullptr = this process alone
  bool count_kernels;   // false: code and printf take nothing
  bool nccl_measured;   // then the next is what a communicator takes, whatever its size
  uint64_t nccl;        // bytes
};

// Read once; what cannot be understood is taken as absent, except an unknown GPU, which makes a machine
// without devices.
const Settings& TheSettings();

// "24GiB", "512M", "4096": binary units; "24GB" is 24 x 1000^3. 0 for what is no size.
uint64_t ParseBytes(const char* text);

// The machine's number of a device that this process sees, and back; -1 = it does not see it.
int PhysicalNumber(int device);
int VisibleNumber(int physical);

// Leaves the devices that CUDA_VISIBLE_DEVICES names, by number or by UUID, in its order; up to the first
// that is not there, and none when one is named twice. nullptr = all.
void ChooseVisible(const char* text, Settings& settings);
// "GPU-7672616d-..." of the machine's device, as nvidia-smi would print it.
void PutUuidText(int physical, char* text, size_t capacity);

// The settings of `gpu`, `capacity` and so on as texts; nullptr = absent. `devices` is 0 for an unknown GPU.
Settings MakeSettings(const char* gpu, const char* capacity, const char* context, const char* copy_limit,
                      const char* lag, const char* ledger);

}  // namespace vramscope::simulated
