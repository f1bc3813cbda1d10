// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/precision/autocast_rules.h"

#include <algorithm>
#include <iterator>

#include "profiler/whatif/step/release.h"

namespace vramscope::whatif {
namespace {

constexpr std::string_view kPrefix = "aten::";

constexpr std::string_view kLow[] = {"_convolution",
                                     "_scaled_dot_product_flash_attention",
                                     "_cudnn_rnn",
                                     "_thnn_fused_gru_cell",
                                     "addbmm",
                                     "_thnn_fused_lstm_cell",
                                     "addmm",
                                     "addmv",
                                     "addr",
                                     "baddbmm",
                                     "bmm",
                                     "chain_matmul",
                                     "conv1d",
                                     "conv2d",
                                     "conv3d",
                                     "conv_tbc",
                                     "conv_transpose1d",
                                     "conv_transpose2d",
                                     "conv_transpose3d",
                                     "convolution",
                                     "einsum",
                                     "gru_cell",
                                     "linalg_multi_dot",
                                     "linalg_vecdot",
                                     "linear",
                                     "lstm_cell",
                                     "matmul",
                                     "mm",
                                     "mv",
                                     "prelu",
                                     "rnn_relu_cell",
                                     "rnn_tanh_cell",
                                     "scaled_dot_product_attention"};

constexpr std::string_view kSingle[] = {"_upsample_bicubic2d_aa",
                                        "_upsample_bilinear2d_aa",
                                        "_upsample_nearest_exact1d",
                                        "_upsample_nearest_exact2d",
                                        "_upsample_nearest_exact3d",
                                        "acos",
                                        "asin",
                                        "binary_cross_entropy_with_logits",
                                        "cdist",
                                        "cosh",
                                        "cosine_embedding_loss",
                                        "cosine_similarity",
                                        "dist",
                                        "erfinv",
                                        "exp",
                                        "expm1",
                                        "frobenius_norm",
                                        "group_norm",
                                        "hinge_embedding_loss",
                                        "huber_loss",
                                        "kl_div",
                                        "l1_loss",
                                        "layer_norm",
                                        "log",
                                        "log10",
                                        "log1p",
                                        "log2",
                                        "logsumexp",
                                        "margin_ranking_loss",
                                        "mse_loss",
                                        "multi_margin_loss",
                                        "multilabel_margin_loss",
                                        "native_layer_norm",
                                        "nll_loss",
                                        "nll_loss2d",
                                        "norm",
                                        "nuclear_norm",
                                        "pdist",
                                        "poisson_nll_loss",
                                        "pow",
                                        "reciprocal",
                                        "renorm",
                                        "rsqrt",
                                        "sinh",
                                        "smooth_l1_loss",
                                        "soft_margin_loss",
                                        "softplus",
                                        "tan",
                                        "triplet_margin_loss",
                                        "upsample_bicubic2d",
                                        "upsample_bilinear2d",
                                        "upsample_linear1d",
                                        "upsample_nearest1d",
                                        "upsample_nearest2d",
                                        "upsample_nearest3d",
                                        "upsample_trilinear3d"};

constexpr std::string_view kIntoSingle[] = {
    "cumprod", "cumsum", "linalg_matrix_norm", "linalg_vector_norm", "log_softmax", "prod", "softmax", "sum"};

constexpr std::string_view kPromote[] = {"addcdiv",     "addcmul",   "atan2",        "bilinear",
                                         "cross",       "dot",       "grid_sampler", "index_put",
                                         "scatter_add", "tensordot", "vdot"};

constexpr std::string_view kStatistics[] = {"native_layer_norm",
                                            "native_layer_norm_backward",
                                            "native_group_norm_backward",
                                            "native_batch_norm_backward",
                                            "cudnn_batch_norm_backward",
                                            "batch_norm_backward",
                                            "native_group_norm",
                                            "native_batch_norm",
                                            "cudnn_batch_norm",
                                            "_fused_rms_norm",
                                            "_native_batch_norm_legit",
                                            "_batch_norm_with_update",
                                            "_batch_norm_impl_index",
                                            "_scaled_dot_product_efficient_attention",
                                            "_efficient_attention_forward",
                                            "_scaled_dot_product_flash_attention",
                                            "_flash_attention_forward",
                                            "_scaled_dot_product_cudnn_attention"};

constexpr std::string_view kFirst[] = {"native_batch_norm",
                                       "cudnn_batch_norm",
                                       "_native_batch_norm_legit",
                                       "_batch_norm_with_update",
                                       "_batch_norm_impl_index",
                                       "batch_norm",
                                       "masked_fill",
                                       "cudnn_batch_norm_backward",
                                       "native_batch_norm_backward",
                                       "batch_norm_backward",
                                       "native_layer_norm_backward",
                                       "native_group_norm_backward",
                                       "_fused_rms_norm_backward",
                                       "_efficient_attention_backward",
                                       "_scaled_dot_product_efficient_attention_backward",
                                       "_flash_attention_backward",
                                       "_scaled_dot_product_flash_attention_backward",
                                       "_cudnn_rnn"};

template <size_t N>
bool In(const std::string_view (&list)[N], std::string_view name) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

std::string_view Bare(std::string_view op) {
  return op.substr(0, kPrefix.size()) == kPrefix ? op.substr(kPrefix.size()) : std::string_view{};
}

// From 2.8 on.
bool ListsRmsNorm(std::string_view torch) { return IsFrom(torch, 2, 8); }

}  // namespace

CastRule AutocastRuleOf(std::string_view op, std::string_view torch, bool half) {
  const std::string_view name = Bare(op);
  if (name.empty()) return CastRule::kAsGiven;
  if (In(kLow, name)) return CastRule::kLow;
  if (In(kSingle, name) || (name == "rms_norm" && ListsRmsNorm(torch))) return CastRule::kSingle;
  const bool softmax = name == "softmax" || name == "log_softmax";
  if (In(kIntoSingle, name)) return softmax && !half ? CastRule::kSingle : CastRule::kIntoSingle;
  return In(kPromote, name) ? CastRule::kPromote : CastRule::kAsGiven;
}

bool IsLeftAlone(std::string_view op, std::string_view around) {
  return op == "aten::log_softmax" && around == "aten::cross_entropy_loss";
}
bool KeepsStatistics(std::string_view op, bool all_low, bool backward) {
  return In(kStatistics, Bare(op)) && !(all_low && (backward || op == "aten::native_group_norm"));
}
bool HasTypeOfRead(std::string_view op) {
  return op == "aten::_softmax_backward_data" || op == "aten::_log_softmax_backward_data";
}
bool FollowsFirst(std::string_view op) { return In(kFirst, Bare(op)); }

}  // namespace vramscope::whatif
