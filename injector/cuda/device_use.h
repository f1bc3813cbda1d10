// SPDX-License-Identifier: Apache-2.0
// Queries NVML for the used memory of a device. Unlike the driver, NVML needs no CUDA context.
#pragma once

#include <cstdint>

namespace vramscope::injector {

// Sets `used` to the bytes that all processes use on the device. Returns false if NVML is missing or does not
// know the device. The first call is slow, because it loads libnvidia-ml.so.1.
bool DeviceUse(int device, uint64_t* used);

}  // namespace vramscope::injector
