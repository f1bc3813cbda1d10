// SPDX-License-Identifier: Apache-2.0
// Device attributes for the simulated cuDNN, queried from the simulated driver. All simulated GPUs of a
// process are of the same model, so only the first GPU is queried.
#pragma once

#include <string>

namespace vramscope::simulated::cudnn {

// Returns the value of cuDeviceGetAttribute, or 0 if there is no driver.
int DeviceAttribute(int attribute);

// Returns the compute capability as one number: 86 for 8.6.
int ComputeCapability();

// Returns the JSON with which cuDNN describes the device (CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION in
// cudnn_graph.h).
std::string DeviceJson();

}  // namespace vramscope::simulated::cudnn
