// SPDX-License-Identifier: Apache-2.0
// Lines that make a change in code, for changes that could not be applied from outside.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "profiler/experiment/try/try_change.h"
#include "profiler/text/number.h"
#include "profiler/whatif/scene/code_lines.h"

namespace vramscope::experiment {
namespace {

// The command's "--batch-size 32" or "--batch-size=32" with the changed number; empty if there is none.
std::string ChangedBatchOption(const Change& change, std::span<const std::string> command) {
  for (size_t index = 0; index < command.size(); ++index) {
    const std::string& word = command[index];
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    if (!name.starts_with("-") || name.find("batch") == std::string::npos) continue;
    const std::string value = equals != std::string::npos  ? word.substr(equals + 1)
                              : index + 1 < command.size() ? command[index + 1]
                                                           : "";
    const std::optional<uint64_t> size = text::ParseNumber<uint64_t>(value);
    if (!size) continue;
    const uint64_t changed =
        change.batch_size
            ? *change.batch_size
            : std::max<uint64_t>(
                  1, static_cast<uint64_t>(std::llround(static_cast<double>(*size) * *change.batch_factor)));
    return fmt::format("{}{}{}", name, equals != std::string::npos ? "=" : " ", changed);
  }
  return "";
}

std::vector<std::string> BatchLines(const Change& change, std::span<const std::string> command) {
  if (const std::string option = ChangedBatchOption(change, command); !option.empty())
    return {fmt::format("{}  in the command", option)};
  return {change.batch_size
              ? fmt::format("batch_size = {}  # where the batches are made", *change.batch_size)
              : fmt::format("batch_size = max(1, round(batch_size * {}))  # where the batches are made",
                            *change.batch_factor)};
}

std::vector<std::string> AmpLines(const Change& change) {
  std::vector<std::string> lines = {fmt::format("with torch.autocast(\"cuda\", dtype=torch.{}):",
                                                change.amp == "bf16" ? "bfloat16" : "float16"),
                                    "    loss = ...  # forward and loss"};
  if (change.amp == "bf16") {
    lines.emplace_back("loss.backward()");
    return lines;
  }
  lines.insert(lines.begin(), "scaler = torch.amp.GradScaler(\"cuda\")  # once");
  lines.insert(lines.end(), {"scaler.scale(loss).backward()", "scaler.step(optimizer)", "scaler.update()"});
  return lines;
}

std::vector<std::string> CheckpointLines(const Change& change) {
  const bool selective = std::ranges::any_of(
      change.checkpoint, [](const std::string& which) { return which.starts_with("ops:"); });
  if (!selective)
    return {"from torch.utils.checkpoint import checkpoint",
            "x = checkpoint(block, x, use_reentrant=False)  # in forward, instead of block(x)"};
  return {
      "from torch.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts",
      "keep = functools.partial(create_selective_checkpoint_contexts, [torch.ops.aten.mm.default, ...])",
      "x = checkpoint(block, x, use_reentrant=False, context_fn=keep)  # in forward, instead of block(x)"};
}

std::vector<std::string> LoraLines(const Change& change) {
  return {
      "class Lora(nn.Module):",
      "    def __init__(self, base, rank):",
      "        super().__init__()",
      "        self.base = base",
      "        self.down = nn.Linear(base.in_features, rank, bias=False)",
      "        self.up = nn.Linear(rank, base.out_features, bias=False)",
      "        nn.init.zeros_(self.up.weight)",
      "    def forward(self, x): return self.base(x) + self.up(self.down(x))",
      "model.requires_grad_(False)",
      fmt::format("block.layer = Lora(block.layer, {})  # each linear layer, before the optimizer is created",
                  change.lora.rank)};
}

std::vector<std::string> AttentionLines(const Change& change) {
  const char* const backend = change.attention == "flash"       ? "FLASH_ATTENTION"
                              : change.attention == "efficient" ? "EFFICIENT_ATTENTION"
                                                                : "MATH";
  return {"from torch.nn.attention import SDPBackend, sdpa_kernel",
          fmt::format("with sdpa_kernel(SDPBackend.{}):  # around the model's call", backend),
          "    y = F.scaled_dot_product_attention(q, k, v)"};
}

std::vector<std::string> CrossEntropyLines() {
  return {"class Loss(torch.autograd.Function):  # hidden [rows, width]; the model without its last layer",
          "    def forward(ctx, hidden, weight, bias, labels):",
          "        for part, target in zip(hidden.split(rows), labels.split(rows)):",
          "            logits = F.linear(part, weight, bias)",
          "            gradient = logits.softmax(-1, dtype=torch.float32)  # minus 1 at the labels",
          "            # add to the loss; gradient @ weight, gradient.T @ part: kept for backward"};
}

std::string EmptyCacheLine(const Change& change) {
  return fmt::format("torch.cuda.empty_cache()  # {}",
                     change.empty_cache == "before-backward"    ? "before loss.backward()"
                     : change.empty_cache == "before-optimizer" ? "before optimizer.step()"
                                                                : "after optimizer.step()");
}

std::string OptimizerLine(const Change& change) {
  const std::string way = change.implementation == "loop" ? "for-loop" : change.implementation;
  return "optimizer = " + whatif::CodeLines("optimizer", change.optimizer + (way.empty() ? "" : ":" + way));
}

}  // namespace

std::vector<std::string> LinesToWrite(const Change& change, std::string_view lever,
                                      std::span<const std::string> command) {
  for (const auto& [name, value] : change.beyond)
    if (name == lever) return {fmt::format("vramscope whatif RUN --{} {}  shows them", name, value)};
  if (lever == "amp") return AmpLines(change);
  if (lever == "checkpoint") return CheckpointLines(change);
  if (lever == "offload")
    return {"with torch.autograd.graph.save_on_cpu():", "    loss = ...  # forward and loss",
            "loss.backward()"};
  if (lever == "lora") return LoraLines(change);
  if (lever == "freeze")
    return {"for name, parameter in model.named_parameters():",
            fmt::format("    if ...:  # name is in {}", fmt::join(change.freeze, ", ")),
            "        parameter.requires_grad_(False)  # before the optimizer is created"};
  if (lever == "attention") return AttentionLines(change);
  if (lever == "cross-entropy") return CrossEntropyLines();
  if (lever == "empty-cache") return {EmptyCacheLine(change)};
  if (lever == "batch") return BatchLines(change, command);
  if (lever == "optimizer") return {OptimizerLine(change)};
  if (lever == "zero-grad-to-none")
    return {fmt::format("optimizer.zero_grad(set_to_none={})",
                        change.zero_grad_to_none.value_or(true) ? "True" : "False")};
  if (lever == "alloc-conf")
    return {fmt::format(
        "os.environ[\"PYTORCH_ALLOC_CONF\"] = \"{}\"  # before `import torch`; PyTorch before 2.9: "
        "PYTORCH_CUDA_ALLOC_CONF",
        change.alloc_conf.value_or(""))};
  if (lever == "accumulate")
    return {fmt::format("for micro_batch in batch.chunk({}):", change.accumulate),
            fmt::format("    (loss_of(micro_batch) / {}).backward()", change.accumulate), "optimizer.step()",
            "optimizer.zero_grad()"};
  return {};
}

}  // namespace vramscope::experiment
