// SPDX-License-Identifier: Apache-2.0
// Puts operators, nodes of autograd and blocks into a copy of a recorded step, as if they had been recorded.
//
// Why as if: a step that looks recorded can be asked and changed by every other lever: autocast finds the
// types of what was put in, the batch is followed through it, checkpoints compute it again.
//
//   recorded   ... 7  8  9 10 ...           room behind 8
//   copy       ... 7  8  9 ───── 264 265 ...    what follows is later by the width of the room
#pragma once

#include <string_view>
#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// The number of a text for names of what is put into the step.
[[nodiscard]] uint32_t TextOf(Step& step, std::string_view text);
// Step::op_ends, after operators got other ends.
void OrderOpEnds(Step& step);

// When the operator of this operand (into Step::operands) sees it: a result when it ends, else when it
// begins.
[[nodiscard]] Position SeenAt(const Step& step, uint32_t operand);
// What operators see of `block` from the results of this one on is `made`.
void SeenAs(Step& step, uint32_t block, uint32_t op, uint32_t made);

// Positions that no recorded event has, to be taken one after the other.
class Room {
 public:
  explicit Room(Position begin) : next_(begin) {}
  Position Tick() { return next_++; }

 private:
  Position next_;
};

class Inserter {
 public:
  static constexpr Position kRoom = 256;

  // `behind`: recorded positions, each of which gets a room between it and the next event.
  Inserter(const Step& step, std::vector<Position> behind);

  // The copy, in its own positions; operators and blocks keep their numbers until Finish.
  [[nodiscard]] Step& step() { return step_; }
  [[nodiscard]] Room RoomBehind(Position recorded) const;
  // Where a recorded position is now.
  [[nodiscard]] Position Moved(Position recorded) const;

  [[nodiscard]] uint32_t Text(std::string_view text);
  [[nodiscard]] uint32_t ShapeOf(const std::vector<int64_t>& dims);
  // Of what is put in from now on: c10::ScalarType.
  void SetElements(uint8_t dtype) { dtype_ = dtype; }
  // A tensor of such elements of a block; its strides are those of `dims` without gaps, or those of its
  // transpose.
  [[nodiscard]] Operand Matrix(uint32_t block, int64_t rows, int64_t columns, bool transposed = false);

  uint32_t AddBlock(StepBlock block);
  uint32_t AddNode(uint32_t op, Position made);
  void Save(uint32_t block, uint32_t node, Position at);
  // Opens an operator; what goes in is said at once, what comes out when it ends.
  uint32_t Begin(std::string_view name, uint32_t parent, uint32_t node, Position at,
                 std::vector<Operand> inputs);
  void End(uint32_t op, Position at, std::vector<Operand> outputs);

  // Operators in order of their begin again.
  [[nodiscard]] Step Finish() &&;

 private:
  void AddOperands(uint32_t op, std::vector<Operand> operands, uint32_t& first, uint32_t& count);

  Step step_;
  std::vector<Position> behind_;  // in order
  const Position length_;         // of the recorded step
  uint8_t dtype_ = 0;
};

}  // namespace vramscope::whatif
