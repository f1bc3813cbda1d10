// SPDX-License-Identifier: Apache-2.0
// Finds the torch that a command will load, before the command runs and without importing torch. The result
// is a guess. The recorder checks inside the process that the bridge fits.
//
//   python train.py                    asks that interpreter where its torch is
//   torchrun, accelerate, ./train.py   a script: asks the interpreter in its first line
//   env, nice, numactl, srun, ...      the first of its arguments that leads to a Python or to libtorch
//   bash run.sh, make train            the Python on PATH, which such scripts usually start
//   ./train (C++)                      asks the dynamic loader which libtorch_cpu.so it would load
#pragma once

#include <span>
#include <string>

#include "trace_format/result.h"

namespace vramscope::collector {

struct TorchLocation {
  std::string root;
  std::string version;  // "2.15.0+cu132"; empty if no file contains it
  std::string python;   // the interpreter that imports it; empty for a program that links to it
};

// An error lists where it searched. Takes the start-up time of a Python, about 20 ms, at most 20 s. With an
// earlier answer in the folder `memory` (answer_cache.h) it takes almost no time.
Result<TorchLocation> FindTorch(std::span<const std::string> command, const std::string& memory = {});

// The folder of another package that a command will import ("tensorflow", "jax").
Result<std::string> FindPackage(std::span<const std::string> command, const std::string& package);

}  // namespace vramscope::collector
