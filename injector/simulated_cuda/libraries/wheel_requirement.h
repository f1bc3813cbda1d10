// SPDX-License-Identifier: Apache-2.0
// Finds the release of an NVIDIA library (cuDNN, NCCL) that this process's PyTorch requires. The metadata of
// PyTorch's wheel contains the release: "Requires-Dist: nvidia-cudnn-cu13==9.26.0.51".
//
// The simulated library must report this release. PyTorch refuses a cuDNN of another major release or an
// older minor release.
#pragma once

#include <string>

namespace vramscope::simulated {

struct Release {
  int major = 0, minor = 0, patch = 0;  // 0.0.0 = unknown
};

// Returns the folder that contains the torch/ folder of this process's PyTorch; empty if PyTorch is not
// loaded.
std::string SitePackages();

// Returns the required release of `package`. `package`: the start of the package's name, "nvidia-cudnn-cu".
// Each call reads one file.
Release RequiredRelease(const char* package);

}  // namespace vramscope::simulated
