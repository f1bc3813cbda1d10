// SPDX-License-Identifier: Apache-2.0
// Finds the torch that a command will load, before the command runs and without importing torch. The result
// is a guess, because a script may choose another Python. When the process runs, the recorder checks that the
// bridge fits its torch.
//
//   command                            how torch is found
//   python train.py                    asks this interpreter where its torch is
//   torchrun, accelerate, ./train.py   asks the interpreter in the script's first line
//   env, nice, numactl, srun, ...      follows the first argument that is a Python, a script or a C++ program
//   bash run.sh, make train            asks the Python on PATH, which such scripts usually start
//   ./train (C++)                      asks the dynamic loader which libtorch_cpu.so it would load
#pragma once

#include <span>
#include <string>

#include "trace_format/result.h"

namespace vramscope::collector {

struct TorchLocation {
  std::string root;     // torch's folder, which contains include/ and lib/
  std::string version;  // "2.15.0+cu132"; empty if no file contains the version
  std::string python;   // the interpreter that imports torch; empty for a program that links to libtorch
};

// Returns an error that lists the searched places if there is no torch. Takes as long as a start of Python:
// about 20 ms, at most 20 s. If the folder `memory` has the answer of an earlier call (answer_cache.h),
// FindTorch takes almost no time.
Result<TorchLocation> FindTorch(std::span<const std::string> command, const std::string& memory = {});

// Returns the folder of another package ("tensorflow", "jax") that a command will import.
Result<std::string> FindPackage(std::span<const std::string> command, const std::string& package);

}  // namespace vramscope::collector
