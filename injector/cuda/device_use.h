// SPDX-License-Identifier: Apache-2.0
// How much of a device is in use, before there is a context to ask the driver in: NVML knows.
#pragma once

#include <cstdint>

namespace vramscope::injector {

// Bytes in use by all processes. False without NVML, or when it does not know the device. Loads
// libnvidia-ml.so.1 at the first call: for moments that take longer themselves, as making a context does.
bool DeviceUse(int device, uint64_t* used);

}  // namespace vramscope::injector
