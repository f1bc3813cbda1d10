// SPDX-License-Identifier: Apache-2.0
// Queries NVML for the used memory of a device. The driver reports it only in a context, which may not exist
// yet.
#pragma once

#include <cstdint>

namespace vramscope::injector {

// Bytes in use by all processes. False if there is no NVML, or if NVML does not know the device. Loads
// libnvidia-ml.so.1 at the first call: use it only where the program does something slow anyway, such as
// creating a context.
bool DeviceUse(int device, uint64_t* used);

}  // namespace vramscope::injector
