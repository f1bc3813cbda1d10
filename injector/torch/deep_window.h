// SPDX-License-Identifier: Apache-2.0
// When deep facts are recorded: whole steps, from the end of one optimizer step to the next.
//
//   depth=light  never                             depth=deep  deep_steps: "2-4", "3", "2-4,100-101"
//   depth=auto   steps 2 to 4, or deep_steps       depth=all   the whole run
//
//   step          1             2             3             4             5
//   ─────────────────┼─────────────┼─────────────┼─────────────┼──────────────
//              StepDone(1)   StepDone(2)   StepDone(3)    StepDone(4)
//                    ╰─ kDeepBegin, bridge on                  ╰─ bridge off, kDeepEnd
#pragma once

#include <atomic>
#include <cstdint>

#include "injector/core/native_stack.h"

namespace vramscope::injector {

// Returns the Python stack for a block that no operator allocates. nullptr outside deep steps.
extern std::atomic<uint32_t (*)()> python_stack_of_block;

// For a new block: its Python stack from the bridge, or its native stack.
inline uint32_t BlockStackId() {
  auto* const python = python_stack_of_block.load(std::memory_order_relaxed);
  const uint32_t stack = __builtin_expect(python != nullptr, 0) ? python() : 0;
  return stack != 0 ? stack : NativeStackId();
}

// Call when the program is about to train: loads the bridge (option bridge=PATH), and opens the window if
// step 1 is deep. Idempotent. True if the bridge is loaded. Not inside an allocator: it calls dlopen.
bool PrepareDeepWindows();

// Call when step `done` (1 = first) has ended. True if the next step is deep.
bool StepDone(uint64_t done);
// Like StepDone, from the hooks of torch::optim. Ignored after a StepDone of the Python shim.
void StepDoneInCxx(uint64_t done);

// Call when the recording ends: ends a deep step.
void CloseDeepWindow();
// Call between recordings: steps count from 1 again. The bridge stays loaded.
void ForgetDeepWindows();

}  // namespace vramscope::injector
