// SPDX-License-Identifier: Apache-2.0
// Which release of an NVIDIA library the PyTorch in this process was made for, as its wheel says.
//
// Why ask: PyTorch refuses a cuDNN of another major release or an older minor one, and chooses attention
// kernels by its release. The wheel's METADATA names the very package it wants: "Requires-Dist:
// nvidia-cudnn-cu13==9.26.0.51".
#pragma once

#include <string>

namespace vramscope::simulated {

struct Release {
  int major = 0, minor = 0, patch = 0;  // 0.0.0 = unknown
};

// The folder that has this process's PyTorch, torch/ that is, in it; empty when PyTorch is not loaded.
std::string SitePackages();

// `package` as it begins there: "nvidia-cudnn-cu". Reads one file at the first call.
Release RequiredRelease(const char* package);

}  // namespace vramscope::simulated
