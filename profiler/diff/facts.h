// SPDX-License-Identifier: Apache-2.0
// Facts about the program behind a run, as far as memory depends on them: the optimizer, the model's
// parameters, the input of a step, precision, checkpointing.
//
// None of these depends on the position of the peak, which can differ between two runs.
//
// Why: two runs differ because somebody changed the program. Bytes by category show how much, these facts
// show what.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "profiler/classify/analysis.h"
#include "profiler/report/answer.h"

namespace vramscope::diff {

// Blocks of one requested size, except those that last by their nature (weights, optimizer state).
struct Made {
  uint64_t times = 0;
  uint64_t outside = 0;  // number of these outside all training steps
  uint64_t most = 0;     // alive at one time
  std::string line;      // that allocated most of them: "evaluate (eval.py:12)"; "" = unknown
};

struct Facts {
  std::set<std::string> optimizers;            // classes whose step() ran: "AdamW"
  std::set<std::string> optimizer_state;       // what they keep per parameter: "exp_avg", "exp_avg_sq"
  std::set<std::string> autocast;              // types of autocast regions: "bfloat16"
  bool checkpoints = false;                    // torch.utils.checkpoint ran
  std::map<std::string, uint64_t> parameters;  // name -> bytes
  // Bytes in these categories when the first backward of the step begins.
  std::map<uint32_t, uint64_t> input_of_step;
  std::map<uint32_t, uint64_t> activation_of_step;
  uint64_t state_bytes = 0;  // the most bytes of optimizer state on the device at one time
  // Host memory of the process, 0 = not sampled. Pinned memory is separate: not with every driver does the
  // kernel count it as resident.
  uint64_t host_bytes = 0;
  uint64_t pinned_bytes = 0;
  bool knows_program = true;       // false for a snapshot: it does not have the purpose of a block
  bool knows_operators = false;    // a deep step was recorded: operators, and modules of non-parameters
  bool knows_lines = false;        // of code
  std::string tried;               // what `vramscope try` changed: "--offload activations"; "" = nothing
  std::map<uint64_t, Made> made;   // by size, from 64 KiB on
  std::string framework;           // "PyTorch 2.15.0"; "" = unknown
  std::string allocator_settings;  // PYTORCH_CUDA_ALLOC_CONF and the like; "" = none or unknown
};

// `answer` is about the run of `analysis` and has the blocks of its peak in moments[0].
[[nodiscard]] Facts FactsOf(const classify::Analysis& analysis, const report::Answer& answer);

}  // namespace vramscope::diff
