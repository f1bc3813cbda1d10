// SPDX-License-Identifier: Apache-2.0
// What a run says about the program that made it, as far as memory depends on it: the optimizer, the model's
// parameters, what a step is fed with, precision, checkpointing.
//
// None of these depends on where the peak lies: the peaks of two runs may be at different moments, where
// anything differs.
//
// Why: two runs differ by what somebody changed in the program. Bytes by category say how much, these facts
// say what it was.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "profiler/classify/analysis.h"
#include "profiler/report/answer.h"

namespace vramscope::diff {

// Blocks that one size was asked for, other than what lasts by its nature (weights, optimizer state).
struct Made {
  uint64_t times = 0;
  uint64_t outside = 0;  // of these, outside of all training steps
  uint64_t most = 0;     // alive at one time
  std::string line;      // that made most of them: "evaluate (eval.py:12)"; "" = not known
};

struct Facts {
  std::set<std::string> optimizers;            // classes whose step() ran: "AdamW"
  std::set<std::string> optimizer_state;       // what they keep for a parameter: "exp_avg", "exp_avg_sq"
  std::set<std::string> autocast;              // types of autocast regions: "bfloat16"
  bool checkpoints = false;                    // torch.utils.checkpoint ran
  std::map<std::string, uint64_t> parameters;  // name -> bytes
  // Bytes of these categories when the step's first backward begins.
  std::map<uint32_t, uint64_t> input_of_step;
  std::map<uint32_t, uint64_t> activation_of_step;
  uint64_t state_bytes = 0;  // most bytes of optimizer state on the device at one time
  // Host memory of the process, 0 = not sampled. Pinned memory is a fact of its own: the kernel does not
  // count it as resident with every driver.
  uint64_t host_bytes = 0;
  uint64_t pinned_bytes = 0;
  bool knows_operators = false;   // and modules of what is no parameter: a deep step was recorded
  bool knows_lines = false;       // of code
  std::string tried;              // what `vramscope try` changed: "--offload activations"; "" = nothing
  std::map<uint64_t, Made> made;  // by size, from 64 KiB on
  std::string torch_version;
  std::string allocator_settings;  // PYTORCH_CUDA_ALLOC_CONF and the like; "" = none or not known
};

// `answer` is about the run of `analysis` and has the blocks of its peak in moments[0].
[[nodiscard]] Facts FactsOf(const classify::Analysis& analysis, const report::Answer& answer);

}  // namespace vramscope::diff
