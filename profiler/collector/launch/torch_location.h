// SPDX-License-Identifier: Apache-2.0
// Finds the torch that a command is going to load, before it runs and without importing it.
//
// Why before: the deep recorder must be compiled against that very torch, and a training process should not
// wait for a compiler. What is found is a guess about a program that has not run; the recorder checks again
// inside the process that it fits the torch it meets.
//
//   python train.py                    that interpreter is asked where its torch is
//   torchrun, accelerate, ./train.py   a script: the interpreter in its first line is asked
//   env, nice, numactl, srun, ...      the first of its arguments that leads to a Python or to libtorch
//   bash run.sh, make train            the Python on PATH, which such scripts usually start
//   ./train (C++)                      the dynamic loader is asked which libtorch_cpu.so it would take
#pragma once

#include <span>
#include <string>

#include "trace_format/result.h"

namespace vramscope::collector {

// A torch as it lies on disk: include/ and lib/ under `root`.
struct TorchLocation {
  std::string root;
  std::string version;  // "2.15.0+cu132"; empty when no file tells
  std::string python;   // the interpreter that imports it; empty for a program that is linked to it
};

// An error says what was looked at. Takes the start-up time of a Python, some 20 ms, at most 20 s; next to
// nothing when `memory`, a folder that exists, has the answer of an earlier call (remembered.h).
Result<TorchLocation> FindTorch(std::span<const std::string> command, const std::string& memory = {});

}  // namespace vramscope::collector
