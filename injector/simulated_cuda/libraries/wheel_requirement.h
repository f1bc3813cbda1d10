// SPDX-License-Identifier: Apache-2.0
// The release of an NVIDIA library that this process's PyTorch was built for, from its wheel.
//
// PyTorch refuses a cuDNN of another major release or an older minor one. The wheel's METADATA:
// "Requires-Dist: nvidia-cudnn-cu13==9.26.0.51".
#pragma once

#include <string>

namespace vramscope::simulated {

struct Release {
  int major = 0, minor = 0, patch = 0;  // 0.0.0 = unknown
};

// The folder that contains this process's torch/; empty if not loaded.
std::string SitePackages();

// `package`: how the package's name begins, "nvidia-cudnn-cu". Reads one file, once.
Release RequiredRelease(const char* package);

}  // namespace vramscope::simulated
