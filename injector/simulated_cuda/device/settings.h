// SPDX-License-Identifier: Apache-2.0
// What the simulated device is asked to be, from environment variables, so that child processes get the same
// one.
//
//   VRAMSCOPE_SIMULATED_GPU=h100-80gb[:N]    the model (gpus.def) and how many of it; default h100-80gb
//   VRAMSCOPE_SIMULATED_CAPACITY=24GiB       instead of the model's own; of each device
//   VRAMSCOPE_SIMULATED_CONTEXT=300MiB       what each process takes on a device before its first allocation
//   VRAMSCOPE_SIMULATED_COPY_LIMIT=1MiB      larger copies into device memory are not carried out: a
//   checkpoint of 140 GB needs no host memory VRAMSCOPE_SIMULATED_LAG=1                launches that the host
//   is ahead of the device (virtual_clock.h) VRAMSCOPE_SIMULATED_LEDGER=FILE          where the ledger is
//   written when a process ends (ledger.h); "%p" becomes the process id VRAMSCOPE_SIMULATED_CUDNN=92600 the
//   release that cuDNN says it is: PyTorch refuses one older than it was compiled against
#pragma once

#include <cstdint>

#include "injector/simulated_cuda/device/gpu.h"

namespace vramscope::simulated {

inline constexpr uint64_t kMib = uint64_t{1} << 20;

struct Settings {
  const Gpu* gpu;
  int devices;
  uint64_t capacity;    // bytes of each device
  uint64_t context;     // bytes
  uint64_t copy_limit;  // bytes
  uint64_t lag;         // launches
  const char* ledger;   // nullptr = nowhere
};

inline constexpr int kMaxDevices = 16;

// Read once; what cannot be understood is taken as absent, except an unknown GPU, which makes a machine
// without devices.
const Settings& TheSettings();

// "24GiB", "512M", "4096": binary units. 0 for what is no size.
uint64_t ParseBytes(const char* text);

// The settings of `gpu`, `capacity` and so on as texts; nullptr = absent. `devices` is 0 for an unknown GPU.
Settings MakeSettings(const char* gpu, const char* capacity, const char* context, const char* copy_limit,
                      const char* lag, const char* ledger);

}  // namespace vramscope::simulated
