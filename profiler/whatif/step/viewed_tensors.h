// SPDX-License-Identifier: Apache-2.0
// Which tensors show a block through which others, while forward is followed.
//
//   qkv = linear(x); q, k, v = qkv.unbind()          one block, four tensors
//   q_ = rotate(q.float())                           what is seen through q is float32 now; v is what it was
//
// Why: a step says of which block a tensor is. What a program converts is a tensor, and others that it took
// of the same block before stay as they are.
#pragma once

#include <unordered_map>
#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

class ViewedTensors {
 public:
  // Only blocks of which Tensor.to() was given a tensor are followed.
  explicit ViewedTensors(const Step& step);

  // Behind an operator of forward, in their order: tensors that it made are new, whatever had their
  // addresses.
  void End(uint32_t op);
  // The tensor that has the operand's address now; kNone: it is not followed, or no operator made it.
  [[nodiscard]] uint32_t Of(const Operand& operand) const;
  // Whether the operand is that tensor, or shows its block through it.
  [[nodiscard]] bool IsSeenThrough(const Operand& operand, uint32_t tensor) const;
  // Whether the operand shows its block through a tensor that was there before `op`.
  [[nodiscard]] bool IsOlder(const Operand& operand, uint32_t op) const;
  // Whether the tensor itself was made behind `op`.
  [[nodiscard]] bool IsNewer(const Operand& operand, uint32_t op) const {
    const uint32_t seen = Of(operand);
    return seen != model::kNone && made_[seen].op > op;
  }

 private:
  struct Made {
    uint32_t op, from;  // kNone: it is no view of another one
  };
  const Step& step_;
  std::vector<bool> wanted_;  // by block
  std::vector<Made> made_;
  std::unordered_map<uint64_t, uint32_t> at_;  // by address, into made_
};

}  // namespace vramscope::whatif
