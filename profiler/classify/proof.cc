// SPDX-License-Identifier: Apache-2.0
#include "profiler/classify/proof.h"

#include <array>

namespace vramscope::classify {
namespace {

struct Text {
  const char* key;
  const char* sentence;
};

constexpr std::array<Text, kProofCount> kTexts = {{
    {"accumulate_grad", "Autograd's AccumulateGrad node named it."},
    {"module_registry", "A module of the program registered it."},
    {"optimizer", "It is in the optimizer's parameter groups or state."},
    {"data_loader", "A data loader returned it."},
    {"register_buffer", "A LibTorch module registered it."},
    {"workspace", "PyTorch allocated it as the workspace of a library."},
    {"collective", "A collective of NCCL read or wrote it."},
    {"data_parallel", "Data parallel training allocated it for communication."},
    {"saved_for_backward", "Autograd kept it for backward."},
    {"born_in_forward", "It was allocated during forward and not kept for backward."},
    {"born_in_evaluation", "It was allocated during a forward pass without a backward pass after it."},
    {"born_in_backward", "It was allocated during backward."},
    {"born_in_update", "It was allocated between backward and the optimizer's step."},
    {"born_in_optimizer", "It was allocated during the optimizer's step and freed soon after."},
    {"born_in_data_loader", "It was allocated while a data loader prepared a batch."},
    {"prepared_and_saved", "It was created before forward began, and autograd kept it for backward."},
    {"prepared_and_alive_in_backward", "It was created before or in forward and was still live in backward."},
    {"set_up_and_saved", "It was created before the first step, and autograd kept it for backward."},
    {"outlived_next_step",
     "It was allocated during an optimizer step and was still live one full step later."},
    {"outlived_optimizer",
     "It was allocated during an optimizer's first step and was still live after that step."},
    {"weight_copy", "It is part of a copy of all model weights, created between two steps."},
    {"born_outside_phases",
     "It was allocated outside data loading, forward, backward and the optimizer step."},
    {"born_before_first_step", "It was allocated before the first step, and nothing named it."},
    {"before_attach", "The process held it before vramscope attached, and nothing named it."},
    {"allocation_not_seen", "Its allocation was not recorded; only the allocator's total includes it."},
}};

}  // namespace

const char* ProofKey(Proof proof) { return kTexts[static_cast<size_t>(proof)].key; }
const char* ProofSentence(Proof proof) { return kTexts[static_cast<size_t>(proof)].sentence; }

}  // namespace vramscope::classify
