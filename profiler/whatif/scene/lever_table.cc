// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/scene/lever_table.h"

#include <array>

namespace vramscope::whatif {
namespace {

constexpr char kProgram[] = "the recorded program";

constexpr std::array kLevers = {
    LeverInfo{"sequence", "N | FACTORx", "N|FACTORx", "Tokens in a sample: 4096, 2x.",
              "another number of tokens in a sample", kProgram, AnsweredBy::kRerun, false,
              "how long a sample is, the program says where it makes its batches"},
    LeverInfo{
        "lora", "RANK[:PATHS]", "RANK[:PATHS]",
        "Freeze linear layers and train two matrices of this rank beside each:\nthose inside blocks, or "
        "of modules such as 'layers.*.mlp'.",
        "linear layers are frozen, and two small matrices beside each are trained", kProgram,
        AnsweredBy::kRerun, true, ""},
    LeverInfo{"freeze", "PATTERN[,PATTERN...]", "PATTERN",
              "Do not train these parameters: 'layers.*', or several with commas.",
              "parameters of these modules are not trained", kProgram, AnsweredBy::kRerun, true, ""},
    LeverInfo{"amp", "bf16 | fp16", "bf16|fp16",
              "torch.autocast around the model and its loss; fp16 with a GradScaler.",
              "torch.autocast around the model and its loss", kProgram, AnsweredBy::kRerun, true, ""},
    LeverInfo{"precision", "bf16 | fp16", "bf16|fp16",
              "Model, gradients, optimizer state and batch in 16 bits.",
              "model, gradients, optimizer state and batch in 16 bits", kProgram, AnsweredBy::kRerun, false,
              "inputs and labels get the type of 16 bits where the program makes them"},
    LeverInfo{"attention", "flash | efficient | math", "flash|efficient|math",
              "Another kernel for scaled dot product attention.",
              "another kernel for scaled dot product attention", kProgram, AnsweredBy::kRerun, true, ""},
    LeverInfo{"cross-entropy", "fused | chunked:K", "fused|chunked:K",
              "Compute linear and cross-entropy in chunks, so that the full logits\nare never materialized.",
              "linear and cross-entropy in chunks, without the full logits", kProgram, AnsweredBy::kRerun,
              true, ""},
    LeverInfo{"quantize", "int8 | nf4, with :PATHS", "int8|nf4[:PATHS]",
              "Weights of frozen linear layers in 8 or 4 bits, restored while they\nmultiply; with --lora or "
              "--freeze.",
              "weights of frozen linear layers in 8 or 4 bits", kProgram, AnsweredBy::kRerun, false,
              "codes in the place of weights need a layer of their own, made from weights that are loaded"},
    LeverInfo{"shard", "ddp:N | zero1:N | zero2:N | zero3:N | fsdp:N[:UNITS] | tp:N | pp:N[:PARTS]", "KIND:N",
              "One rank of N: ddp:8, zero1:8, zero2:8, zero3:8, fsdp:8, tp:8, pp:4:8;\nddp:8:view with "
              "gradients as views, fsdp:8:'layers.*' with these units.",
              "the step of one rank of N, with its batch",
              "modules, labels of parameters and optimizer state (a deep step)", AnsweredBy::kTransform,
              false, "the processes of a job are started by its launcher"},
    LeverInfo{
        "checkpoint", "all | every:K | PATHS, also with ,ops:matmul+attention", "all|every:K|PATHS",
        "Compute activations of these modules again in backward: all blocks,\nevery K-th, or paths such "
        "as 'layers.*,head'; all,ops:matmul keeps\nwhat products of matrices return.",
        "activations of these modules are computed again in backward",
        "modules, operators and saved tensors (a deep step of a Python program)", AnsweredBy::kTransform,
        true, ""},
    LeverInfo{"free-early", "all", "all",
              "Free tensors at their last use instead of when their variable goes out\nof scope; lists them.",
              "what variables keep after its last use is freed there",
              "operators and saved tensors (a deep step)", AnsweredBy::kTransform, false,
              "a variable is let go of by the code that has it"},
    LeverInfo{"offload", "optimizer | activations, each also with :25GB/s", "WHAT[:GB/s]",
              "On the host: optimizer, activations or both with a comma between;\noptimizer:25GB/s also says "
              "how long it travels.",
              "on the host: the optimizer with its state, or what autograd keeps for backward",
              "a deep step, and labels of parameters and optimizer state", AnsweredBy::kTransform, true,
              "an optimizer on the host steps on copies, to which the loop takes gradients"},
    LeverInfo{"batch", "N | FACTORx", "N|FACTORx", "Samples in a batch: 16, 0.5x.",
              "another number of samples in a batch", kProgram, AnsweredBy::kRerun, true, ""},
    LeverInfo{"accumulate", "K | K:whole", "K",
              "The batch in K parts, one optimizer step for all of them; K:whole: K\nbatches such as the "
              "recorded one.",
              "the batch in K parts, or K whole batches, for one optimizer step",
              "the recorded program; for K:whole backward passes before an optimizer step (a deep step)",
              AnsweredBy::kRerun, true, ""},
    LeverInfo{
        "optimizer", "sgd | momentum | adam | adamw | adafactor | adam8bit | adamw8bit [:foreach ...]",
        "NAME[:WAY]",
        "sgd, momentum, adam, adamw or adafactor; :foreach, :for-loop or\n:fused; adam8bit or adamw8bit.",
        "another optimizer, or another way to step",
        "a deep step, and labels of parameters and optimizer state", AnsweredBy::kTransform, true,
        "optimizers in 8 bits are of another package, bitsandbytes, which the program imports"},
    LeverInfo{"zero-grad", "keep", "keep", "zero_grad(set_to_none=False).",
              "optimizer.zero_grad(set_to_none=False)", "a deep step with gradients that are set to none",
              AnsweredBy::kTransform, true, ""},
    LeverInfo{"alloc-conf", "SETTINGS", "SETTINGS", "PYTORCH_CUDA_ALLOC_CONF.",
              "other settings of the caching allocator", "allocations of a whole step",
              AnsweredBy::kAllocator, true, ""},
    LeverInfo{"empty-cache", "before-backward | before-optimizer | after-step", "WHEN",
              "torch.cuda.empty_cache() before-backward, before-optimizer or after-step.",
              "torch.cuda.empty_cache() once a step", "allocations of a whole step", AnsweredBy::kAllocator,
              true, ""},
};

}  // namespace

std::span<const LeverInfo> LeverTable() { return kLevers; }

const LeverInfo* FindLeverInfo(std::string_view name) {
  for (const LeverInfo& lever : kLevers)
    if (name == lever.name) return &lever;
  return nullptr;
}

AnsweredBy AnsweredHow(std::string_view lever, std::string_view value) {
  if (lever == "shard" && (value.starts_with("tp:") || value.starts_with("pp:"))) return AnsweredBy::kRerun;
  if (lever == "accumulate" && value.ends_with(":whole")) return AnsweredBy::kTransform;
  const LeverInfo* const row = FindLeverInfo(lever);
  return row == nullptr ? AnsweredBy::kTransform : row->kind;
}

std::string WhyRerun(std::string_view lever, std::string_view value) {
  const std::string change = "--" + std::string(lever) + " " + std::string(value);
  const LeverInfo* const row = FindLeverInfo(lever);
  const std::string further = row != nullptr && row->tried
                                  ? "`vramscope try " + change + "` makes it in the program itself."
                                  : "to make it by hand, record the changed program with `vramscope dryrun`.";
  return change + " changes what PyTorch computes, so it is answered by a re-run of the recorded program; " +
         further;
}

}  // namespace vramscope::whatif
