// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/runtime/kernel_registers.h"

#include <cstring>

namespace vramscope::simulated {

// 128 for each of 512 threads, or 255 for each of 256, as ptxas reports for 8.0, for keys of one and two
// bytes with values of 8.
bool TakesAllRegisters(const char* kernel) {
  return std::strstr(kernel, "DeviceRadixSortDownsweepKernel") != nullptr;
}

}  // namespace vramscope::simulated
