// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/scene/code_lines.h"

#include <algorithm>
#include <utility>

namespace vramscope::whatif {
namespace {

std::string TypeOf(std::string_view bits) { return bits == "fp16" ? "torch.float16" : "torch.bfloat16"; }

std::string Amp(std::string_view value) {
  const std::string region = "with torch.autocast(\"cuda\", dtype=" + TypeOf(value) + "):\n    loss = ...";
  if (value != "fp16") return region;
  return region + "\nscaler.scale(loss).backward(); scaler.step(optimizer); scaler.update()" +
         "    # scaler = torch.amp.GradScaler()";
}

std::string Kernel(std::string_view value) {
  const std::string name = value == "flash"       ? "FLASH_ATTENTION"
                           : value == "efficient" ? "EFFICIENT_ATTENTION"
                                                  : "MATH";
  return "with torch.nn.attention.sdpa_kernel(SDPBackend." + name + "):\n    ...";
}

std::string AccumulateLine(std::string_view value) {
  const std::string parts(value.substr(0, value.find(':')));
  return "for part in batch.chunk(" + parts + "):\n    (loss_of(part) / " + parts +
         ").backward()\noptimizer.step()";
}

std::string LowRank(std::string_view value) {
  const std::string rank(value.substr(0, value.find(':')));
  return "model = peft.get_peft_model(model, peft.LoraConfig(r=" + rank + ", target_modules=...))";
}

std::string OptimizerLine(std::string_view value) {
  constexpr std::pair<std::string_view, std::string_view> kClasses[] = {
      {"sgd", "torch.optim.SGD(model.parameters(), lr=..."},
      {"momentum", "torch.optim.SGD(model.parameters(), lr=..., momentum=0.9"},
      {"adam", "torch.optim.Adam(model.parameters(), lr=..."},
      {"adamw", "torch.optim.AdamW(model.parameters(), lr=..."},
      {"adafactor", "torch.optim.Adafactor(model.parameters(), lr=..."},
      {"adam8bit", "bitsandbytes.optim.Adam8bit(model.parameters(), lr=..."},
      {"adamw8bit", "bitsandbytes.optim.AdamW8bit(model.parameters(), lr=..."},
  };
  const size_t colon = std::min(value.find(':'), value.size());
  const std::string_view name = value.substr(0, colon), way = value.substr(std::min(colon + 1, value.size()));
  const auto* const known =
      std::ranges::find(kClasses, name, &std::pair<std::string_view, std::string_view>::first);
  if (known == std::end(kClasses)) return "";
  const bool loops_by_default = name == "adafactor";
  std::string code(known->second);
  if (way == "for-loop" && !loops_by_default) code += ", foreach=False";
  if (way == "foreach" && loops_by_default) code += ", foreach=True";
  if (way == "fused") code += ", fused=True";
  return code + ")";
}

}  // namespace

std::string CodeLines(std::string_view lever, std::string_view value) {
  if (lever == "amp") return Amp(value);
  if (lever == "precision") return "model.to(" + TypeOf(value) + "), and the batch";
  if (lever == "attention") return Kernel(value);
  if (lever == "accumulate") return AccumulateLine(value);
  if (lever == "optimizer") return OptimizerLine(value);
  if (lever == "lora") return LowRank(value);
  if (lever == "freeze") return "parameter.requires_grad_(False), for parameters of " + std::string(value);
  if (lever == "batch" && value.ends_with('x'))
    return "a batch size of " + std::string(value) + " the recorded one";
  if (lever == "batch") return "DataLoader(..., batch_size=" + std::string(value) + ")";
  if (lever == "sequence") return "samples of " + std::string(value) + " tokens";
  if (lever == "cross-entropy") return "the loss in chunks, without the full logits (docs/try.md)";
  return "";
}

}  // namespace vramscope::whatif
