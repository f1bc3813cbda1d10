// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/ask/try_options.h"

#include <array>

namespace vramscope::cli {
namespace {

constexpr char kBeyond[] =
    "`vramscope try` cannot apply this change; `vramscope whatif` predicts it and shows the code.";

constexpr std::array kOptions = {
    Option{"amp", '\0', "bf16|fp16", "Run forward and loss under autocast; with fp16, also scale the loss."},
    Option{
        "checkpoint", '\0', "WHICH",
        "Recompute activations of these modules in backward: 'all' blocks, 'every:2' blocks, or patterns\n"
        "of module paths, like 'layers.*'. With ops:matmul+attention, keep the outputs of these operators.\n"
        "Can be repeated."},
    Option{"offload", '\0', "activations", "Move saved tensors to the host until backward."},
    Option{"lora", '\0', "RANK[:PATHS]",
           "Freeze linear layers and train two matrices of this rank for each of them: the layers inside\n"
           "blocks, or those in modules like 'layers.*.mlp'."},
    Option{"freeze", '\0', "PATHS",
           "Do not train these parameters: 'layers.*', or several patterns separated by commas."},
    Option{"attention", '\0', "flash|efficient|math", "Use this kernel for scaled dot product attention."},
    Option{"cross-entropy", '\0', "fused|chunked:K",
           "Compute the last linear layer and its loss in chunks, so that the full logits never exist."},
    Option{"batch", '\0', "0.5x|16",
           "Batch size of the DataLoaders: a factor, or the batch size of the first one."},
    Option{
        "optimizer", '\0', "KIND[:HOW]",
        "Replace the optimizer with sgd, momentum, adam, adamw or adafactor, or with adam8bit or adamw8bit\n"
        "of bitsandbytes. HOW: fused, foreach or loop."},
    Option{"zero-grad-to-none", '\0', "yes|no",
           "yes: zero_grad() frees the gradients. no: it fills them with zeros."},
    Option{"zero-grad", '\0', "keep",
           "The same as --zero-grad-to-none no. `vramscope whatif` has the option in this form."},
    Option{"empty-cache", '\0', "before-backward|before-optimizer|after-step",
           "Call torch.cuda.empty_cache() at this point of each step."},
    Option{"alloc-conf", '\0', "SETTINGS",
           "Set PYTORCH_ALLOC_CONF, instead of the value in the environment. For TensorFlow:\n"
           "allow_growth:True, garbage_collection:False."},
    Option{
        "accumulate", '\0', "K",
        "Gradient accumulation over K micro-batches: DataLoader batches are K times smaller, and only every "
        "K-th optimizer.step() takes effect."},
    Option{"precision", '\0', "bf16|fp16",
           "Keras on TensorFlow: store and compute in this type. For PyTorch, `vramscope whatif` predicts\n"
           "the change and shows the code."},
    Option{"sequence", '\0', "N|FACTORx", kBeyond},
    Option{"quantize", '\0', "int8|nf4[:PATHS]", kBeyond},
    Option{"free-early", '\0', "all", kBeyond},
    Option{"shard", '\0', "KIND:N",
           "ddp:N for Keras on TensorFlow: MirroredStrategy over N GPUs. For PyTorch, `vramscope whatif`\n"
           "predicts the change and shows the code."},
};

}  // namespace

std::span<const Option> ChangeOptions() { return kOptions; }

Result<experiment::Change> ChangeFrom(const Arguments& arguments) {
  experiment::Change change;
  for (const Option& option : kOptions) {
    for (const std::string& value : arguments.All(option.name)) {
      VRAMSCOPE_TRY(experiment::Ask(option.name, value, change));
    }
  }
  if (change.Levers().empty())
    return Error{"try needs a change: vramscope try --amp bf16 -- python train.py"};
  return change;
}

}  // namespace vramscope::cli
