// SPDX-License-Identifier: Apache-2.0
// Which release of an NVIDIA library the PyTorch in this process was built for, from its wheel.
//
// Why: PyTorch refuses a cuDNN of another major release or an older minor one, and chooses attention kernels
// by cuDNN's release. The wheel's METADATA names the exact package: "Requires-Dist:
// nvidia-cudnn-cu13==9.26.0.51".
#pragma once

#include <string>

namespace vramscope::simulated {

struct Release {
  int major = 0, minor = 0, patch = 0;  // 0.0.0 = unknown
};

// The folder that contains this process's PyTorch (the folder torch/); empty if PyTorch is not loaded.
std::string SitePackages();

// `package` is the beginning of the name there: "nvidia-cudnn-cu". Reads one file at the first call.
Release RequiredRelease(const char* package);

}  // namespace vramscope::simulated
