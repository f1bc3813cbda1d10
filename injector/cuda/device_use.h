// SPDX-License-Identifier: Apache-2.0
// How much of a device is in use before there is a context to ask the driver in: NVML reports it.
#pragma once

#include <cstdint>

namespace vramscope::injector {

// Bytes in use by all processes. False without NVML, or if it does not know the device. Loads
// libnvidia-ml.so.1 at the first call: use it only where the program does something slow anyway, such as
// creating a context.
bool DeviceUse(int device, uint64_t* used);

}  // namespace vramscope::injector
