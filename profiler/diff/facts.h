// SPDX-License-Identifier: Apache-2.0
// Facts about a run's program that affect memory: the optimizer, the parameters, the input of a step,
// precision, checkpointing. None of these facts depends on the position of the peak.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "profiler/classify/analysis.h"
#include "profiler/report/answer.h"

namespace vramscope::diff {

// Blocks of one requested size, without weights, buffers and optimizer state.
struct Made {
  uint64_t times = 0;    // number of allocations
  uint64_t outside = 0;  // allocations outside all training steps
  uint64_t most = 0;     // highest number alive at one time
  std::string line;      // most frequent allocating line: "evaluate (eval.py:12)"; "" = unknown
};

struct Facts {
  std::set<std::string> optimizers;            // classes whose step() ran: "AdamW"
  std::set<std::string> optimizer_state;       // names of the state per parameter: "exp_avg", "exp_avg_sq"
  std::set<std::string> autocast;              // types of autocast regions: "bfloat16"
  bool checkpoints = false;                    // torch.utils.checkpoint ran
  std::map<std::string, uint64_t> parameters;  // name -> bytes
  // By step number: bytes of inputs and of activations when the first backward pass of a step begins.
  std::map<uint32_t, uint64_t> input_of_step;
  std::map<uint32_t, uint64_t> activation_of_step;
  uint64_t state_bytes = 0;  // highest optimizer state when a step's first backward begins
  // Peaks of the process's host memory, 0 = not sampled. host_bytes may or may not include pinned memory.
  uint64_t host_bytes = 0;
  uint64_t pinned_bytes = 0;
  bool knows_program = true;       // false for a snapshot
  bool knows_operators = false;    // a deep step was recorded
  bool knows_lines = false;        // lines of code were recorded
  std::string tried;               // change made by `vramscope try`: "--offload activations"; "" = none
  std::map<uint64_t, Made> made;   // by size, from 64 KiB on
  std::string framework;           // "PyTorch 2.15.0"; "" = unknown
  std::string allocator_settings;  // PYTORCH_CUDA_ALLOC_CONF and the like; "" = none or unknown
};

// `answer` must be of the run of `analysis`, with the peak's blocks in moments[0].
[[nodiscard]] Facts FactsOf(const classify::Analysis& analysis, const report::Answer& answer);

}  // namespace vramscope::diff
