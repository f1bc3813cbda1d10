// SPDX-License-Identifier: Apache-2.0
// How the batch passes through PyTorch's operators: those that do not leave dimensions where they are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// How the batch passes through an operator.
enum class Kind : uint8_t {
  kElementwise,  // dimensions keep their places, or are aligned at the right when ranks differ
  kLeading,      // indices: the dimensions of the index come first in the result
  kMatrix,       // mm, addmm, bmm, baddbmm: rows of the first, columns of the second, the inner dimension is
                 // summed
  kReduction,    // dimensions of argument 1 are summed
  kJoin,         // cat, repeat, pad, and backward of a slice: as elementwise, and a dimension may have become
                 // longer
  kWindows,      // a convolution or a pool: as kJoin, and windows that lie several elements apart are fewer
  kFirstResult,  // only the first result can have it: gradients of weights do not, statistics seldom
  kRecurrent,    // cuDNN's recurrent networks: what they keep for backward is one row of
                 // bytes, and the states they begin and end with are [layers, batch, features]
  kNever,        // no result has it
  kFactory,      // no operand says anything: a first dimension of the batch's size is taken for it
};

inline constexpr std::pair<std::string_view, Kind> kKinds[] = {
    {"aten::mm", Kind::kMatrix},
    {"aten::addmm", Kind::kMatrix},
    {"aten::_addmm_activation", Kind::kMatrix},
    {"aten::bmm", Kind::kMatrix},
    {"aten::baddbmm", Kind::kMatrix},
    {"aten::sum", Kind::kReduction},
    {"aten::mean", Kind::kReduction},
    {"aten::amax", Kind::kReduction},
    {"aten::amin", Kind::kReduction},
    {"aten::var", Kind::kReduction},
    {"aten::var_mean", Kind::kReduction},
    {"aten::std", Kind::kReduction},
    {"aten::all", Kind::kReduction},
    {"aten::any", Kind::kReduction},
    {"aten::argmax", Kind::kReduction},
    {"aten::argmin", Kind::kReduction},
    {"aten::prod", Kind::kReduction},
    {"aten::logsumexp", Kind::kReduction},
    {"aten::linalg_vector_norm", Kind::kReduction},
    {"aten::embedding", Kind::kLeading},
    {"aten::index_select", Kind::kLeading},
    {"aten::index", Kind::kLeading},
    {"aten::cat", Kind::kJoin},
    {"aten::stack", Kind::kJoin},
    {"aten::repeat", Kind::kJoin},
    {"aten::pad", Kind::kJoin},
    {"aten::constant_pad_nd", Kind::kJoin},
    {"aten::slice_backward", Kind::kJoin},
    {"aten::conv1d", Kind::kWindows},
    {"aten::convolution", Kind::kWindows},
    {"aten::_convolution", Kind::kWindows},
    {"aten::_conv_depthwise2d", Kind::kWindows},
    {"aten::cudnn_convolution", Kind::kWindows},
    {"aten::max_pool1d", Kind::kWindows},
    {"aten::max_pool1d_with_indices", Kind::kWindows},
    {"aten::max_pool2d_with_indices", Kind::kWindows},
    {"aten::avg_pool1d", Kind::kWindows},
    {"aten::avg_pool2d", Kind::kWindows},
    {"aten::convolution_backward", Kind::kFirstResult},
    {"aten::native_layer_norm_backward", Kind::kFirstResult},
    {"aten::_fused_rms_norm_backward", Kind::kFirstResult},
    {"aten::native_group_norm_backward", Kind::kFirstResult},
    {"aten::native_batch_norm", Kind::kFirstResult},
    {"aten::_native_batch_norm_legit", Kind::kFirstResult},
    {"aten::cudnn_batch_norm", Kind::kFirstResult},
    {"aten::native_batch_norm_backward", Kind::kFirstResult},
    {"aten::cudnn_batch_norm_backward", Kind::kFirstResult},
    {"aten::batch_norm_backward", Kind::kFirstResult},
    {"aten::_batch_norm_with_update", Kind::kFirstResult},
    {"aten::_cudnn_rnn", Kind::kRecurrent},
    {"aten::embedding_dense_backward", Kind::kNever},
    {"aten::nll_loss_forward", Kind::kNever},
    {"aten::nll_loss2d_forward", Kind::kNever},
    {"aten::item", Kind::kNever},
};

inline constexpr uint16_t kReserve = 3;  // the result of _cudnn_rnn that backward reads

// Memory that an operator asks for before it knows what goes in: the operator around it decides.
inline constexpr std::string_view kFactories[] = {
    "aten::empty",         "aten::empty_strided", "aten::zeros",     "aten::ones",
    "aten::full",          "aten::new_empty",     "aten::new_zeros", "aten::new_ones",
    "aten::new_full",      "aten::arange",        "aten::rand",      "aten::randn",
    "aten::resize_",       "aten::zero_",         "aten::fill_",     "aten::new_empty_strided",
    "aten::scalar_tensor", "aten::randint",       "aten::eye"};

[[nodiscard]] inline Kind KindNamed(std::string_view op) {
  for (const auto& [known, kind] : kKinds)
    if (op == known) return kind;
  const bool factory = std::find(std::begin(kFactories), std::end(kFactories), op) != std::end(kFactories);
  return factory ? Kind::kFactory : Kind::kElementwise;
}

// Whose memory a block is that no operator hands out: what a factory makes for the operator around it, and is
// gone with that without that anything else has `seen` it, is that operator's (the workspace of
// memory-efficient attention's backward). Not what cuDNN's recurrent networks work in: that was the same with
// half and with twice the batch.
[[nodiscard]] inline uint32_t OwnerOf(const Step& step, uint32_t block, bool seen) {
  const uint32_t made = step.blocks[block].op;
  uint32_t owner = made;
  while (!seen && KindNamed(step.NameOf(step.ops[owner])) == Kind::kFactory &&
         step.ops[owner].parent != model::kNone)
    owner = step.ops[owner].parent;
  const bool own = step.blocks[block].end < step.ops[owner].end &&
                   !step.NameOf(step.ops[owner]).starts_with("aten::_cudnn_rnn");
  return own ? owner : made;
}

}  // namespace vramscope::whatif
