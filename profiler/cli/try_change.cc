// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/try_change.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "profiler/cli/terminal.h"

namespace vramscope::cli {
namespace {

constexpr uint64_t kLargestBatch = 1 << 24;
constexpr double kLargestFactor = 1024;
constexpr uint64_t kMostMicroBatches = 1 << 20;

constexpr std::array kOptions = {
    Option{"amp", '\0', "bf16|fp16", "Autocast around forward and loss; with fp16 the loss is scaled."},
    Option{"checkpoint", '\0', "WHICH",
           "Recompute activations of these modules in backward: 'all' blocks, 'every:2' of them, or\n"
           "patterns for their paths, like 'layers.*'; with ops:matmul+attention beside them all but what\n"
           "these operators return. May be given several times."},
    Option{"offload", '\0', "activations", "What autograd keeps for backward goes to the host meanwhile."},
    Option{"batch", '\0', "0.5x|16", "Batch size of the DataLoaders: a factor, or what the first one gets."},
    Option{"optimizer", '\0', "KIND[:HOW]",
           "sgd, momentum, adam, adamw or adafactor in the place of the program's; HOW: fused, foreach\n"
           "or loop."},
    Option{"zero-grad-to-none", '\0', "yes|no", "Whether zero_grad() frees the gradients."},
    Option{"alloc-conf", '\0', "SETTINGS", "PYTORCH_ALLOC_CONF, in the place of the environment's."},
    Option{"accumulate", '\0', "K",
           "Micro-batches per step: batches of the DataLoaders K times smaller, every K-th step taken."},
};

template <class Number>
std::optional<Number> Parsed(std::string_view text) {
  Number number{};
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

bool IsOneOf(std::string_view word, std::initializer_list<std::string_view> choices) {
  return std::ranges::find(choices, word) != choices.end();
}

Status ReadCheckpoint(const Arguments& arguments, Change& change) {
  for (const std::string& given : arguments.All("checkpoint")) {
    std::istringstream parts(given);
    for (std::string part; std::getline(parts, part, ',');)
      if (!part.empty()) change.checkpoint.push_back(part);
  }
  if (arguments.Has("checkpoint") && change.checkpoint.empty())
    return Error{"--checkpoint names no modules; 'all', 'every:2' or a pattern like 'layers.*' is needed."};
  for (const std::string& which : change.checkpoint) {
    const bool every = which.starts_with("every:");
    if (every && Parsed<uint32_t>(std::string_view(which).substr(6)).value_or(0) < 1)
      return Error{fmt::format("--checkpoint {}: after 'every:' comes a number from 1.", Printable(which))};
    if (which.starts_with("ops:") && which.size() == 4)
      return Error{"--checkpoint ops: needs operators whose results are kept: ops:matmul+attention."};
    const auto modules = std::ranges::count_if(
        change.checkpoint, [](const std::string& one) { return !one.starts_with("ops:"); });
    if ((every || which == "all") && modules > 1)
      return Error{fmt::format("--checkpoint {} stands alone; leave out the others.", Printable(which))};
  }
  return {};
}

Status ReadBatch(const Arguments& arguments, Change& change) {
  if (!arguments.Has("batch")) return {};
  const std::string text = arguments.Get("batch");
  if (text.ends_with('x')) {
    change.batch_factor = Parsed<double>(std::string_view(text).substr(0, text.size() - 1));
    if (change.batch_factor && std::isfinite(*change.batch_factor) && *change.batch_factor > 0 &&
        *change.batch_factor <= kLargestFactor)
      return {};
  } else {
    change.batch_size = Parsed<uint64_t>(text);
    if (change.batch_size && *change.batch_size >= 1 && *change.batch_size <= kLargestBatch) return {};
  }
  return Error{
      fmt::format("--batch {}: a factor like 0.5x or a number of samples is needed.", Printable(text))};
}

Status ReadOptimizer(const Arguments& arguments, Change& change) {
  if (!arguments.Has("optimizer")) return {};
  const std::string text = arguments.Get("optimizer");
  const size_t colon = text.find(':');
  change.optimizer = text.substr(0, colon);
  if (colon != std::string::npos) change.implementation = text.substr(colon + 1);
  if (!IsOneOf(change.optimizer, {"sgd", "momentum", "adam", "adamw", "adafactor"}) ||
      (colon != std::string::npos && !IsOneOf(change.implementation, {"fused", "foreach", "loop"})))
    return Error{
        fmt::format("--optimizer {}: sgd, momentum, adam, adamw or adafactor is needed, and behind a colon "
                    "fused, foreach or loop.",
                    Printable(text))};
  return {};
}

std::string BatchText(const Change& change) {
  return change.batch_factor ? fmt::format("{}x", *change.batch_factor)
                             : fmt::format("{}", *change.batch_size);
}

// "--batch-size 32" or "--batch-size=32" of the command, with the changed number; empty when there is none.
std::string ChangedBatchOption(const Change& change, std::span<const std::string> command) {
  for (size_t index = 0; index < command.size(); ++index) {
    const std::string& word = command[index];
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    if (!name.starts_with("-") || name.find("batch") == std::string::npos) continue;
    const std::string value = equals != std::string::npos  ? word.substr(equals + 1)
                              : index + 1 < command.size() ? command[index + 1]
                                                           : "";
    const std::optional<uint64_t> size = Parsed<uint64_t>(value);
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
            "x = checkpoint(block, x, use_reentrant=False)  # in forward, in the place of block(x)"};
  return {"from torch.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts",
          "keep = functools.partial(create_selective_checkpoint_contexts, [torch.ops.aten.mm.default, ...])",
          "x = checkpoint(block, x, use_reentrant=False, context_fn=keep)  # in forward, in the place of "
          "block(x)"};
}

std::string OptimizerLine(const Change& change) {
  const bool sgd = IsOneOf(change.optimizer, {"sgd", "momentum"});
  return fmt::format("optimizer = torch.optim.{}(model.parameters(), lr=...{}{})",
                     sgd                               ? "SGD"
                     : change.optimizer == "adam"      ? "Adam"
                     : change.optimizer == "adafactor" ? "Adafactor"
                                                       : "AdamW",
                     change.optimizer == "momentum" ? ", momentum=0.9" : "",
                     change.implementation == "fused"     ? ", fused=True"
                     : change.implementation == "foreach" ? ", foreach=True"
                     : change.implementation == "loop"    ? ", foreach=False"
                                                          : "");
}

}  // namespace

std::span<const Option> ChangeOptions() { return kOptions; }

Result<Change> ChangeFrom(const Arguments& arguments) {
  Change change;
  change.amp = arguments.Get("amp");
  if (arguments.Has("amp") && !IsOneOf(change.amp, {"bf16", "fp16"}))
    return Error{fmt::format("--amp {}: bf16 or fp16 is needed.", Printable(change.amp))};
  for (const Status& status :
       {ReadCheckpoint(arguments, change), ReadBatch(arguments, change), ReadOptimizer(arguments, change)}) {
    if (!status.ok()) return status.error();
  }
  change.offload = arguments.Get("offload");
  if (arguments.Has("offload") && change.offload != "activations")
    return Error{fmt::format("--offload {}: activations is needed; an optimizer on the host is for code.",
                             Printable(change.offload))};
  if (arguments.Has("zero-grad-to-none")) {
    const std::string text = arguments.Get("zero-grad-to-none");
    if (!IsOneOf(text, {"yes", "no"}))
      return Error{fmt::format("--zero-grad-to-none {}: yes or no is needed.", Printable(text))};
    change.zero_grad_to_none = text == "yes";
  }
  if (arguments.Has("alloc-conf")) change.alloc_conf = arguments.Get("alloc-conf");
  if (arguments.Has("accumulate")) {
    change.accumulate = Parsed<uint64_t>(arguments.Get("accumulate")).value_or(0);
    if (change.accumulate < 2 || change.accumulate > kMostMicroBatches)
      return Error{
          fmt::format("--accumulate {}: a number from 2 is needed.", Printable(arguments.Get("accumulate")))};
  }
  if (change.Levers().empty())
    return Error{"try needs a change: vramscope try --amp bf16 -- python train.py"};
  return change;
}

std::vector<std::string> Change::Levers() const {
  std::vector<std::string> levers;
  const auto add = [&](bool asked, const char* lever) {
    if (asked) levers.emplace_back(lever);
  };
  add(!amp.empty(), "amp");
  add(!checkpoint.empty(), "checkpoint");
  add(!offload.empty(), "offload");
  add(batch_factor || batch_size, "batch");
  add(!optimizer.empty(), "optimizer");
  add(zero_grad_to_none.has_value(), "zero-grad-to-none");
  add(alloc_conf.has_value(), "alloc-conf");
  add(accumulate != 0, "accumulate");
  return levers;
}

std::string Change::Text() const {
  std::vector<std::string> words;
  if (!amp.empty()) words.push_back("--amp " + amp);
  if (!checkpoint.empty()) words.push_back(fmt::format("--checkpoint {}", fmt::join(checkpoint, ",")));
  if (!offload.empty()) words.push_back("--offload " + offload);
  if (batch_factor || batch_size) words.push_back("--batch " + BatchText(*this));
  if (!optimizer.empty())
    words.push_back(
        fmt::format("--optimizer {}{}{}", optimizer, implementation.empty() ? "" : ":", implementation));
  if (zero_grad_to_none)
    words.push_back(fmt::format("--zero-grad-to-none {}", *zero_grad_to_none ? "yes" : "no"));
  if (alloc_conf) words.push_back("--alloc-conf " + *alloc_conf);
  if (accumulate != 0) words.push_back(fmt::format("--accumulate {}", accumulate));
  return fmt::format("{}", fmt::join(words, " "));
}

std::string PlanFor(const Change& change, const std::string& notes_folder) {
  nlohmann::ordered_json plan;
  plan["notes"] = notes_folder;
  if (!change.amp.empty()) plan["amp"] = change.amp;
  if (!change.checkpoint.empty()) plan["checkpoint"] = change.checkpoint;
  if (!change.offload.empty()) plan["offload"] = change.offload;
  if (change.batch_factor) plan["batch"] = {{"factor", *change.batch_factor}};
  if (change.batch_size) plan["batch"] = {{"size", *change.batch_size}};
  if (!change.optimizer.empty()) plan["optimizer"] = change.optimizer;
  if (!change.implementation.empty()) plan["implementation"] = change.implementation;
  if (change.zero_grad_to_none) plan["zero_grad_to_none"] = *change.zero_grad_to_none;
  if (change.alloc_conf) plan["alloc_conf"] = *change.alloc_conf;
  if (change.accumulate != 0) plan["accumulate"] = change.accumulate;
  return plan.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::vector<std::string> LinesToWrite(const Change& change, std::string_view lever,
                                      std::span<const std::string> command) {
  if (lever == "amp") return AmpLines(change);
  if (lever == "checkpoint") return CheckpointLines(change);
  if (lever == "offload")
    return {"with torch.autograd.graph.save_on_cpu():", "    loss = ...  # forward and loss",
            "loss.backward()"};
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

}  // namespace vramscope::cli
