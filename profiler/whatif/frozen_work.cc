// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/frozen_work.h"

namespace vramscope::whatif {

using model::kNone;

bool ViewsWhatItKeeps(const Step& step, const Op& op) {
  if (op.input_count == 0 || op.output_count != 1 || step.NameOf(op).ends_with('_')) return false;
  const uint32_t block = InputsOf(step, op)[0].block;
  return block != kNone && OutputsOf(step, op)[0].block == block &&
         step.blocks[block].begin < step.backward.front().begin;
}

bool TakesMask(const Step& step, const Op& op) {
  const std::string_view name = step.NameOf(op);
  return name == "aten::convolution_backward" || name == "aten::native_batch_norm_backward" ||
         name == "aten::native_group_norm_backward" || name == "aten::native_layer_norm_backward";
}

uint32_t GradientOfAll(const Step& step, uint32_t block) {
  uint32_t op = step.blocks[block].op;
  const auto computes_all = [&](std::string_view name) {
    return name == "aten::cudnn_batch_norm_backward" || name == "aten::miopen_batch_norm_backward" ||
           name == "aten::_prelu_kernel_backward";
  };
  while (op != kNone && !computes_all(step.NameOf(step.ops[op]))) op = step.ops[op].parent;
  return op;
}

bool IsCopyForItsNode(const Step& step, const Saved& saved) {
  const uint32_t changing = saved.node == kNone ? kNone : step.nodes[saved.node].op;
  if (changing == kNone || !step.NameOf(step.ops[changing]).ends_with('_')) return false;
  uint32_t op = step.blocks[saved.block].op;
  while (op != kNone && step.ops[op].parent != changing) op = step.ops[op].parent;
  return op != kNone && step.NameOf(step.ops[op]) == "aten::clone";
}

}  // namespace vramscope::whatif
