// SPDX-License-Identifier: Apache-2.0
// Queries NVML for the used memory of a device. NVML needs no context, unlike the driver.
#pragma once

#include <cstdint>

namespace vramscope::injector {

// Bytes in use by all processes. False if NVML is missing or does not know the device. Slow at the first
// call, which loads libnvidia-ml.so.1.
bool DeviceUse(int device, uint64_t* used);

}  // namespace vramscope::injector
