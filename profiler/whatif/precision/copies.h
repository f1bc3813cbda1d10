// SPDX-License-Identifier: Apache-2.0
// Gradients of what a program converted itself.
//
//   y = x.to(torch.float32); z = f(y) * g(y); x = x + h(z)
//
// A node of its own converts the gradient of y, behind all that y was used for: what comes from there is
// added up in the type of y before. x itself may have a gradient by then, to which it is added.
#pragma once

#include <map>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profiler/whatif/precision/versions.h"
#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

class CopiesGradients {
 public:
  // `wanted`: by node, the type that it wants, filled while forward is played; it must outlive this.
  CopiesGradients(const Step& step, uint8_t low, const std::vector<uint8_t>& wanted, Versions& versions);

  // The node was made by an operator of forward that ends now: in which types it saw its operands.
  void NoteRead(uint32_t node);
  void NoteReads(std::span<const uint32_t> nodes) {
    for (const uint32_t node : nodes) NoteRead(node);
  }
  // Whether the gradient for `node` is one of a copy of what its operator returned.
  [[nodiscard]] bool IsOfCopy(uint32_t gradient, uint32_t node) const;
  // Autocast is about to convert the operand of `op` to the low type, in which it was until the program made
  // a wider copy: x.float() @ y. Both conversions are nodes.
  void NoteBack(uint32_t op, uint32_t block);
  // A gradient that is of the type that its node wants, and was another between: the second conversion.
  struct Return {
    Position at = kBefore;  // it is none
    uint8_t from = 0;
    Position there = kBefore;  // the first one, not before that
  };
  // Of a gradient that passes both nodes on its way from such an operator to `node`. So does one that the
  // program made low before an operator that promotes: weight * x.to(type), with a weight in float32. And so
  // does one of what it made wider again: loss(softmax(x, dtype=torch.float32).to(x.dtype).float()).
  [[nodiscard]] Return ComesBack(uint32_t gradient, uint32_t node) const;
  // When all of the gradient of a copy is there and what it was computed from is gone; kBefore where it is
  // none of a copy.
  [[nodiscard]] Position Complete(uint32_t gradient, uint32_t node) const;
  // When the node converts back that the program made by giving its result the low type; `behind` where it
  // did not.
  [[nodiscard]] Position ConvertsBack(uint32_t node, Position behind, Position latest) const;
  // When the copy's node converts it: before all nodes that were made in forward before it. At most `latest`.
  [[nodiscard]] Position Converts(uint32_t gradient, uint32_t node, Position latest) const;
  // Before all nodes that run behind `behind` and were made in forward before `made`. At most `latest`.
  [[nodiscard]] Position BeforeOlder(Position made, Position behind, Position latest) const;
  // The engine adds two gradients for `node`. Whether both are of the copy, so that they stay what they are.
  [[nodiscard]] bool AddsUp(const Op& add, uint32_t node);
  // Whether they are of what the program gave the low type behind it, also where an operator beside them that
  // promotes made one float: x = x.to(type); x * cos + rotate(x) * sin. The engine knows the copy's node, and
  // adds in its type.
  [[nodiscard]] bool AddsUpInLow(const Op& add, uint32_t node);
  // Whether the second one waits: until all of the copy are together, or until the copy's node runs.
  [[nodiscard]] bool Waits(const Op& add, uint32_t node);
  // When the wider copy was made of what the operator of `node` returned that the operator of `reader` read;
  // kBefore: it read none.
  [[nodiscard]] Position WidenedFor(uint32_t node, uint32_t reader) const;
  // When the gradient of a parameter, in float32 where the parameter is low, is converted: by the node of the
  // program's own conversion, self.weight.float(), or by the node that computed it of something wider;
  // kBefore: neither shows.
  [[nodiscard]] Position ConvertsLeaf(uint32_t gradient) const;
  // They are: `node` is about to run.
  void Join(uint32_t node);

 private:
  struct Waiting {
    Operand first;   // to which the others are added
    Position since;  // the last one was
    uint32_t sum;    // of x's own gradient and them, where that is another block; else none
    uint32_t own;    // x's own gradient: a block of the record
    bool twice;      // they are of a wider copy of a low copy of x
    uint32_t given;  // the version of x's own gradient that the sum takes and nothing else holds; else none
  };

  // Whether the second one, of a copy in the low type, is converted and added only when the copy's node runs:
  // behind the recorded sum.
  [[nodiscard]] bool AddsLate(const Op& add, uint32_t node);
  // Of the two that are added; nothing where they are not known.
  [[nodiscard]] std::pair<uint8_t, uint8_t> TypesOf(std::span<const Operand> added) const;

  const Step& step_;
  const uint8_t low_;
  const std::vector<uint8_t>& wanted_;
  Versions& versions_;
  // Whether it is one of a copy in float32 of x in float32, as f(x.to(low)) makes in f: two nodes convert it.
  [[nodiscard]] bool IsOfWiderCopy(uint32_t gradient, uint32_t node) const;
  // The version of what the operator of `node` returned that the gradient is one of; kNone: not known.
  [[nodiscard]] uint32_t VersionOf(uint32_t gradient, uint32_t node) const;

  struct Read {
    uint32_t block, version;
    uint8_t type;
  };
  struct Sum {
    uint32_t version;  // that they are gradients of
    Position at;
  };

  [[nodiscard]] Position WidenedBeside(uint32_t maker, uint32_t node) const;
  // What the operator of `maker` read of these results; nullptr: none.
  [[nodiscard]] const Read* ReadBy(uint32_t maker, std::span<const Operand> results) const;

  std::vector<std::vector<Read>> read_;  // by node
  // Outermost operators, and blocks that they read: when the wider copy was made.
  std::map<std::pair<uint32_t, uint32_t>, Position> back_;
  // Of gradients of copies, by block and the node that they are for: one block may be added to for many.
  std::map<std::pair<uint32_t, uint32_t>, Sum> sums_;
  std::unordered_map<uint32_t, Waiting> waiting_;  // by node
};

}  // namespace vramscope::whatif
