// SPDX-License-Identifier: Apache-2.0
// The device as cuDNN reads it from the driver. All devices of a process are of one model, so only the first
// one is read.
#pragma once

#include <string>

namespace vramscope::simulated::cudnn {

// cuDeviceGetAttribute; 0 if there is no driver.
int DeviceAttribute(int attribute);

// 86 for compute capability 8.6.
int ComputeCapability();

// The JSON that cuDNN writes for the device (CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION in cudnn_graph.h).
std::string DeviceJson();

}  // namespace vramscope::simulated::cudnn
