// SPDX-License-Identifier: Apache-2.0
// What happens in a step, in the order of its time: operators and nodes begin and end, autograd keeps
// tensors; and which node is given a gradient next.
#pragma once

#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

enum class What : uint8_t { kNodeBegin, kOpBegin, kSaved, kOpEnd, kNodeEnd };

struct Moment {
  Position at;
  What what;
  uint32_t index;
};

// O(n log n).
[[nodiscard]] std::vector<Moment> MomentsOf(const Step& step);

// Whether it is a tensor on the device that was recorded with float elements.
[[nodiscard]] bool IsFloat(const Operand& operand);

// Whether a tensor of floats that has no elements is among them: no block holds it.
[[nodiscard]] bool HaveEmpty(const Step& step, std::span<const Operand> operands);

// Until when the engine holds what it gives the operator, one of backward. What a node is given it holds
// until it has brought what comes out into shape: behind the node's operator it sums up what was broadcast,
// then the node lets go of what it kept (call_function and evaluate_function in
// torch/csrc/autograd/engine.cpp). `kept`: of the node; blocks, and numbers in Step::saved.
[[nodiscard]] Position GivenUntil(const Step& step, const Op& op,
                                  std::span<const std::pair<uint32_t, uint32_t>> kept);

// Where autocast is left: behind the loss. What the program's loop makes of the loss alone, and
// loss.backward(), which first makes a gradient of ones, stand behind it.
[[nodiscard]] Position LeftBefore(const Step& step, Position backward_begin);

// The nodes of backward that are given a float tensor of a block.
class Consumers {
 public:
  explicit Consumers(const Step& step);
  // The operator of the last node before `at` that hands on what it is given, as that of an addition does,
  // and was given the block; kNone when none was. `view`: an operator made this tensor of the block, and what
  // was given another one does not count.
  [[nodiscard]] uint32_t HandedOn(const Operand& gradient, bool view, Position at) const;
  // That of a node before `at` that added up what the operator of `node` returned, and hands on what it was
  // given, the block; kNone: none did.
  [[nodiscard]] uint32_t HandedOnTo(uint32_t node, uint32_t block, Position at) const;
  // Whether nodes begin after `behind` that are given it, and all want it converted from `type`: none of them
  // holds it itself. `wanted`: by node.
  [[nodiscard]] bool WantCopies(uint32_t block, Position behind, uint8_t type,
                                const std::vector<uint8_t>& wanted) const;
  // The first that begins after `behind`; kNone when there is none.
  [[nodiscard]] uint32_t Next(uint32_t block, Position behind) const;

 private:
  const Step& step_;
  // By block: operators, and which tensor of it they were given.
  std::unordered_map<uint32_t, std::vector<std::pair<uint32_t, uint64_t>>> handed_on_;
  std::unordered_map<uint32_t, std::vector<std::pair<Position, uint32_t>>> nodes_;
};

}  // namespace vramscope::whatif
