// SPDX-License-Identifier: Apache-2.0
// The loss of a language model, a linear layer followed by cross-entropy, computed over parts of the rows.
//
// Why it saves: logits are [rows, vocabulary], and with them there are their logarithms and two gradients of
// that size. Over parts, with gradients computed beside the loss, each part's go before the next one's come:
//
//   recorded   logits ├──┤ log_softmax ├───────────┤ two gradients        [rows, vocabulary] each
//   in parts   gradients of rows and of the weight ├────────────────...   as large as these
//              logits, their gradient ├┤├┤├┤├┤                            [rows of a part, vocabulary]
//
// As LigerFusedLinearCrossEntropy does, here in torch alone.
#pragma once

#include <string>
#include <vector>

#include "profiler/whatif/scene/lever.h"

namespace vramscope::whatif {

struct LinearLoss {
  uint32_t product = model::kNone;                                             // aten::mm or aten::addmm
  uint32_t loss = model::kNone;                                                // aten::cross_entropy_loss
  uint32_t hidden = model::kNone, weight = model::kNone, bias = model::kNone;  // blocks
  int64_t rows = 0, width = 0, vocabulary = 0;
  uint64_t element = 0;             // bytes, of logits
  std::vector<uint32_t> made;       // blocks: logits, and what was made of them but for the loss
  std::vector<uint32_t> nodes;      // of autograd
  std::vector<uint32_t> gradients;  // blocks that they hand out: of the rows, the weight, the bias
  Window backward;
};

// Fails with a sentence where the loss is none of that kind, or logits are used for something else too.
[[nodiscard]] Result<LinearLoss> FindLinearLoss(const Step& step);

// The loss over parts of so many rows.
[[nodiscard]] Step WithLossInParts(const Step& step, const LinearLoss& loss, int64_t rows);

const Lever& CrossEntropyLever();

}  // namespace vramscope::whatif
