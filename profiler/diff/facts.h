// SPDX-License-Identifier: Apache-2.0
// Facts about the program of a run that affect its memory: the optimizer, the parameters, the input of a
// step, precision and checkpointing. The facts do not depend on the position of the peak.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "profiler/classify/analysis.h"
#include "profiler/report/answer.h"

namespace vramscope::diff {

// Counts the blocks of one requested size. Parameters, buffers and optimizer state are not counted.
struct Made {
  uint64_t times = 0;    // number of allocations
  uint64_t outside = 0;  // allocations outside all training steps
  uint64_t most = 0;     // highest number of live blocks at one time
  std::string line;  // line of code that allocated most of the blocks: "evaluate (eval.py:12)"; "" = unknown
};

struct Facts {
  std::set<std::string> optimizers;            // classes whose step() ran: "AdamW"
  std::set<std::string> optimizer_state;       // names of the state per parameter: "exp_avg", "exp_avg_sq"
  std::set<std::string> autocast;              // data types of the autocast regions: "bfloat16"
  bool checkpoints = false;                    // torch.utils.checkpoint ran
  std::map<std::string, uint64_t> parameters;  // name -> bytes
  // By step number: bytes of inputs and of activations at the start of the step's first backward pass.
  std::map<uint32_t, uint64_t> input_of_step;
  std::map<uint32_t, uint64_t> activation_of_step;
  uint64_t state_bytes = 0;  // highest bytes of optimizer state at the start of a step's first backward pass
  // Peaks of the process's host memory in bytes; 0 = not sampled. host_bytes may or may not include pinned
  // memory.
  uint64_t host_bytes = 0;
  uint64_t pinned_bytes = 0;
  bool knows_program = true;     // false if the run is a snapshot
  bool knows_operators = false;  // true if a deep step was recorded
  bool knows_lines = false;      // true if lines of code were recorded
  std::string tried;  // the change if `vramscope try` made the run: "--offload activations"; "" = none
  std::map<uint64_t, Made> made;   // by requested size, for sizes from 64 KiB on
  std::string framework;           // "PyTorch 2.15.0"; "" = unknown
  std::string allocator_settings;  // PYTORCH_CUDA_ALLOC_CONF and the like; "" = none or unknown
};

// Returns the facts of the run. `answer` must describe the run of `analysis`, and its moments[0] must contain
// the blocks at the peak.
[[nodiscard]] Facts FactsOf(const classify::Analysis& analysis, const report::Answer& answer);

}  // namespace vramscope::diff
