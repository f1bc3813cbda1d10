// SPDX-License-Identifier: Apache-2.0
// How long the calls of functions go on that call no modules, whether or not anything is told of their
// source: their operators show it.
//
//   3116  scaled_dot_product_attention   attend (attention.py:193), Block.forward (block.py:45)
//   3333  transpose                      attend (attention.py:206), Block.forward (block.py:45)
//   3349  reshape                        Block.forward (block.py:57)      attend has returned
//
// Why beside function_facts.h: that tells of files with classes of modules alone, and attention is often
// called by a function that all models of a library share.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// Of an operator with so many the recorder has left out those around them (bridge/python_stack.h).
inline constexpr size_t kMostCallers = 8;

// Fills Op::left, and Step::named with what multi_head_attention_forward() of torch/nn/functional.py has
// projected: from 2.15 on it deletes its q, k and v directly behind attention. `callers`: operator and frame,
// of each operator innermost frames first.
void FindLeft(std::vector<std::pair<uint32_t, uint32_t>> callers,
              const std::unordered_map<uint32_t, std::string_view>& frames, Step& step);

}  // namespace vramscope::whatif
