// SPDX-License-Identifier: Apache-2.0
// Facts about a run's program that affect memory: the optimizer, the model's parameters, the input of a step,
// precision, checkpointing.
//
// None of these depends on the position of the peak, which can differ between two runs.
//
// Why: two runs differ because somebody changed the program. Bytes by category show the size of the effect.
// These facts show the change.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "profiler/classify/analysis.h"
#include "profiler/report/answer.h"

namespace vramscope::diff {

// Blocks of one requested size, except those that are always long-lived (weights, buffers, optimizer state).
struct Made {
  uint64_t times = 0;    // number of allocations
  uint64_t outside = 0;  // number of these outside all training steps
  uint64_t most = 0;     // highest number alive at one time
  std::string line;      // the line that allocated most of them: "evaluate (eval.py:12)"; "" = unknown
};

struct Facts {
  std::set<std::string> optimizers;            // classes whose step() ran: "AdamW"
  std::set<std::string> optimizer_state;       // names of the state per parameter: "exp_avg", "exp_avg_sq"
  std::set<std::string> autocast;              // types of autocast regions: "bfloat16"
  bool checkpoints = false;                    // torch.utils.checkpoint ran
  std::map<std::string, uint64_t> parameters;  // name -> bytes
  // Bytes of inputs and of activations when the first backward pass of a step begins; by step number.
  std::map<uint32_t, uint64_t> input_of_step;
  std::map<uint32_t, uint64_t> activation_of_step;
  uint64_t state_bytes = 0;  // the most bytes of optimizer state when a first backward pass begins
  // Peaks of the process's host memory, 0 = not sampled. Pinned memory is separate, because the kernel does
  // not count it as resident with every driver.
  uint64_t host_bytes = 0;
  uint64_t pinned_bytes = 0;
  bool knows_program = true;       // false for a snapshot, which does not record the purpose of a block
  bool knows_operators = false;    // a deep step was recorded, so operators and most modules are known
  bool knows_lines = false;        // lines of code were recorded
  std::string tried;               // the change made by `vramscope try`: "--offload activations"; "" = none
  std::map<uint64_t, Made> made;   // by size, from 64 KiB on
  std::string framework;           // "PyTorch 2.15.0"; "" = unknown
  std::string allocator_settings;  // PYTORCH_CUDA_ALLOC_CONF and the like; "" = none or unknown
};

// `answer` must be of the run of `analysis`, with the blocks of its peak in moments[0].
[[nodiscard]] Facts FactsOf(const classify::Analysis& analysis, const report::Answer& answer);

}  // namespace vramscope::diff
