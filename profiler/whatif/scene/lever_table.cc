// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/scene/lever_table.h"

#include <algorithm>
#include <array>

namespace vramscope::whatif {
namespace {

constexpr char kProgram[] = "the recorded program";

constexpr std::array kLevers = {
    LeverInfo{"sequence", "N | FACTORx", "N|FACTORx", "Tokens per sample: 4096, 2x.",
              "another number of tokens per sample", kProgram, AnsweredBy::kRerun, false,
              "the program sets the sample length where it makes its batches"},
    LeverInfo{"lora", "RANK[:PATHS]", "RANK[:PATHS]",
              "Freeze linear layers and train two matrices of this rank for each:\n"
              "layers inside blocks, or in modules like 'layers.*.mlp'.",
              "linear layers are frozen, and two small matrices for each are trained", kProgram,
              AnsweredBy::kRerun, true, "", "", "checkpoint"},
    LeverInfo{"freeze", "PATTERN[,PATTERN...]", "PATTERN",
              "Do not train these parameters: 'layers.*', or several patterns separated\n"
              "by commas.",
              "parameters of these modules are not trained", kProgram, AnsweredBy::kRerun, true, "", "",
              "checkpoint"},
    LeverInfo{"amp", "bf16 | fp16", "bf16|fp16",
              "Run the model and its loss under torch.autocast; fp16 with a GradScaler.",
              "torch.autocast around the model and its loss", kProgram, AnsweredBy::kRerun, true, ""},
    LeverInfo{"precision", "bf16 | fp16", "bf16|fp16",
              "Model, gradients, optimizer state and batch in 16 bits.",
              "model, gradients, optimizer state and batch in 16 bits", kProgram, AnsweredBy::kRerun, false,
              "the program converts its inputs and labels to 16 bits where it makes them"},
    LeverInfo{"attention", "flash | efficient | math", "flash|efficient|math",
              "Use this kernel for scaled dot product attention.",
              "another kernel for scaled dot product attention", kProgram, AnsweredBy::kRerun, true, ""},
    LeverInfo{"cross-entropy", "fused | chunked:K", "fused|chunked:K",
              "Compute linear and cross-entropy in chunks, so that the full logits\nare never materialized.",
              "linear and cross-entropy in chunks, without the full logits", kProgram, AnsweredBy::kRerun,
              true, ""},
    LeverInfo{"quantize", "int8 | nf4, with :PATHS", "int8|nf4[:PATHS]",
              "Store the weights of frozen linear layers in 8 or 4 bits and dequantize\n"
              "them for each multiplication; with --lora or --freeze.",
              "weights of frozen linear layers in 8 or 4 bits", kProgram, AnsweredBy::kRerun, false,
              "quantized weights need another layer class, built from the loaded weights"},
    LeverInfo{"shard", "ddp:N | zero1:N | zero2:N | zero3:N | fsdp:N[:UNITS] | tp:N | pp:N[:PARTS]", "KIND:N",
              "Predict one rank of N: ddp:8, zero1:8, zero2:8, zero3:8, fsdp:8, tp:8, pp:4:8.\n"
              "ddp:8:view makes gradients bucket views. fsdp:8:'layers.*' names the FSDP units.",
              "the step of one rank of N, with its batch",
              "modules, labels of parameters and optimizer state (a deep step)", AnsweredBy::kTransform,
              false, "the launcher of the job starts its processes", "tp:* pp:*"},
    LeverInfo{"checkpoint", "all | every:K | PATHS, also with ,ops:matmul+attention", "all|every:K|PATHS",
              "Recompute activations of these modules in backward: all blocks, every:K\n"
              "of them, or paths like 'layers.*,head'. all,ops:matmul keeps the outputs\n"
              "of matrix products.",
              "activations of these modules are recomputed in backward",
              "modules, operators and saved tensors (a deep step of a Python program)",
              AnsweredBy::kTransform, true, ""},
    LeverInfo{"free-early", "all", "all",
              "Free tensors at their last use, not when their variable goes out of\n"
              "scope. The answer lists these tensors.",
              "tensors are freed at their last use", "operators and saved tensors (a deep step)",
              AnsweredBy::kTransform, false, "only the code that holds a variable can release it"},
    LeverInfo{"offload", "optimizer | activations, each also with :25GB/s", "WHAT[:GB/s]",
              "Move to the host: optimizer, activations, or both separated by a comma.\n"
              "optimizer:25GB/s also predicts the transfer time.",
              "on the host: the optimizer with its state, or the tensors that autograd saves",
              "a deep step, and labels of parameters and optimizer state", AnsweredBy::kTransform, true,
              "an optimizer on the host updates copies, and the loop must copy the gradients to them"},
    LeverInfo{"batch", "N | FACTORx", "N|FACTORx", "Samples per batch: 16, 0.5x.",
              "another number of samples per batch", kProgram, AnsweredBy::kRerun, true, ""},
    LeverInfo{"accumulate", "K | K:whole", "K",
              "Split the batch into K parts with one optimizer step for all. K:whole:\n"
              "use K whole batches of the recorded size.",
              "the batch in K parts, or K whole batches, for one optimizer step",
              "the recorded program; for K:whole, backward passes before an optimizer step (a deep step)",
              AnsweredBy::kRerun, true, "", "*:whole"},
    LeverInfo{"optimizer", "sgd | momentum | adam | adamw | adafactor | adam8bit | adamw8bit [:foreach ...]",
              "NAME[:WAY]",
              "Use sgd, momentum, adam, adamw or adafactor, with :foreach, :for-loop or\n:fused; or adam8bit "
              "or adamw8bit of bitsandbytes.",
              "another optimizer, or another implementation of it",
              "a deep step, and labels of parameters and optimizer state; for adafactor and 8-bit optimizers "
              "the recorded program",
              AnsweredBy::kTransform, true, "", "adafactor* adam8bit* adamw8bit*"},
    LeverInfo{"zero-grad", "keep", "keep", "zero_grad(set_to_none=False).",
              "optimizer.zero_grad(set_to_none=False)", "a deep step in which gradients are set to None",
              AnsweredBy::kTransform, true, ""},
    LeverInfo{"alloc-conf", "SETTINGS", "SETTINGS", "PYTORCH_CUDA_ALLOC_CONF.",
              "other settings of the caching allocator", "allocations of a whole step",
              AnsweredBy::kAllocator, true, ""},
    LeverInfo{"empty-cache", "before-backward | before-optimizer | after-step", "WHEN",
              "Call torch.cuda.empty_cache() at this point of each step.",
              "torch.cuda.empty_cache() once a step", "allocations of a whole step", AnsweredBy::kAllocator,
              true, ""},
};

// True if one of the patterns, "tp:* pp:*", matches the value.
bool IsAmong(std::string_view patterns, std::string_view value) {
  while (!patterns.empty()) {
    const size_t end = std::min(patterns.find(' '), patterns.size());
    const std::string_view one = patterns.substr(0, end);
    patterns.remove_prefix(std::min(end + 1, patterns.size()));
    if (one.starts_with('*') ? value.ends_with(one.substr(1))
                             : value.starts_with(one.substr(0, one.size() - 1)))
      return true;
  }
  return false;
}

}  // namespace

std::span<const LeverInfo> LeverTable() { return kLevers; }

const LeverInfo* FindLeverInfo(std::string_view name) {
  for (const LeverInfo& lever : kLevers)
    if (name == lever.name) return &lever;
  return nullptr;
}

AnsweredBy AnsweredHow(std::string_view lever, std::string_view value) {
  const LeverInfo* const row = FindLeverInfo(lever);
  if (row == nullptr) return AnsweredBy::kTransform;
  if (!IsAmong(row->other_way, value)) return row->kind;
  return row->kind == AnsweredBy::kRerun ? AnsweredBy::kTransform : AnsweredBy::kRerun;
}

std::string WhyRerun(std::string_view lever, std::string_view value) {
  const std::string change = "--" + std::string(lever) + " " + std::string(value);
  const LeverInfo* const row = FindLeverInfo(lever);
  const std::string further = row != nullptr && row->tried
                                  ? "`vramscope try " + change + "` applies it to the program itself."
                                  : "or change the program and record it with `vramscope dryrun`.";
  return change + " changes what PyTorch computes, so only a re-run of the recorded program can answer it; " +
         further;
}

}  // namespace vramscope::whatif
