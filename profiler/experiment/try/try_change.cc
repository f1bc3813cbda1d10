// SPDX-License-Identifier: Apache-2.0
#include "profiler/experiment/try/try_change.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "profiler/experiment/dryrun/dryrun_plan.h"
#include "profiler/text/harmless.h"
#include "profiler/text/number.h"
#include "profiler/text/split.h"
#include "profiler/whatif/scene/lever.h"

namespace vramscope::experiment {
namespace {

constexpr double kLargestFactor = 1024;
constexpr uint64_t kMostMicroBatches = 1 << 20;
constexpr uint32_t kMostRank = 1 << 16;

bool IsOneOf(std::string_view word, std::initializer_list<std::string_view> choices) {
  return std::ranges::find(choices, word) != choices.end();
}

std::vector<std::string> Split(std::string_view text) {
  const std::vector<std::string_view> parts = text::CommaParts(text);
  return {parts.begin(), parts.end()};
}

Status ReadCheckpoint(const std::string& value, Change& change) {
  for (std::string& part : Split(value)) change.checkpoint.push_back(std::move(part));
  if (change.checkpoint.empty())
    return Error{"--checkpoint names no modules; give 'all', 'every:2' or a pattern like 'layers.*'."};
  for (const std::string& which : change.checkpoint) {
    const bool every = which.starts_with("every:");
    if (every && text::ParseNumber<uint32_t>(std::string_view(which).substr(6)).value_or(0) < 1)
      return Error{fmt::format("--checkpoint {}: 'every:' needs a number from 1, like every:2.",
                               text::OneLine(which))};
    if (which.starts_with("ops:") && which.size() == 4)
      return Error{"--checkpoint ops: needs the operators whose outputs are kept: ops:matmul+attention."};
    const auto modules = std::ranges::count_if(
        change.checkpoint, [](const std::string& one) { return !one.starts_with("ops:"); });
    if ((every || which == "all") && modules > 1)
      return Error{fmt::format("--checkpoint {} cannot be combined with other modules; leave them out.",
                               text::OneLine(which))};
  }
  return {};
}

// "0.5x" or "16".
Status ReadAmount(std::string_view option, const std::string& text, const char* unit,
                  std::optional<double>& factor, std::optional<uint64_t>& size) {
  factor.reset();
  size.reset();
  if (text.ends_with('x')) {
    factor = text::ParseNumber<double>(std::string_view(text).substr(0, text.size() - 1));
    if (factor && std::isfinite(*factor) && *factor > 0 && *factor <= kLargestFactor) return {};
  } else {
    size = text::ParseNumber<uint64_t>(text);
    if (size && *size >= 1 && *size <= kLargestBatch) return {};
  }
  return Error{fmt::format("--{} {}: must be a factor like 0.5x or a number of {}.", option,
                           text::OneLine(text), unit)};
}

Status ReadOptimizer(const std::string& text, Change& change) {
  const size_t colon = text.find(':');
  change.optimizer = text.substr(0, colon);
  change.implementation = colon == std::string::npos ? "" : text.substr(colon + 1);
  if (change.implementation == "for-loop") change.implementation = "loop";  // the name that whatif uses
  const bool eight_bits = IsOneOf(change.optimizer, {"adam8bit", "adamw8bit"});
  if ((!eight_bits && !IsOneOf(change.optimizer, {"sgd", "momentum", "adam", "adamw", "adafactor"})) ||
      (colon != std::string::npos && !IsOneOf(change.implementation, {"fused", "foreach", "loop"})))
    return Error{
        fmt::format("--optimizer {}: must be sgd, momentum, adam, adamw, adafactor, adam8bit or "
                    "adamw8bit, optionally with :fused, :foreach or :for-loop.",
                    text::OneLine(text))};
  if (eight_bits && colon != std::string::npos)
    return Error{fmt::format("--optimizer {}: bitsandbytes has only one implementation; leave out \":{}\".",
                             text::OneLine(text), text::OneLine(text.substr(colon + 1)))};
  if (change.optimizer == "adafactor" && change.implementation == "fused")
    return Error{"--optimizer adafactor:fused: PyTorch has no fused Adafactor; use :foreach or :for-loop."};
  return {};
}

Status ReadLora(const std::string& text, Change& change) {
  const size_t colon = text.find(':');
  change.lora.rank = text::ParseNumber<uint32_t>(std::string_view(text).substr(0, colon)).value_or(0);
  change.lora.modules = Split(colon == std::string::npos ? "" : text.substr(colon + 1));
  if (change.lora.rank == 0 || change.lora.rank > kMostRank ||
      (colon != std::string::npos && change.lora.modules.empty()))
    return Error{fmt::format("--lora {}: needs a rank, as in 8, or 8:'layers.*.mlp' for modules.",
                             text::OneLine(text))};
  return {};
}

Status ReadCrossEntropy(const std::string& text, Change& change) {
  change.cross_entropy = text;
  constexpr std::string_view kChunked = "chunked:";
  const uint64_t parts =
      text.starts_with(kChunked)
          ? text::ParseNumber<uint64_t>(std::string_view(text).substr(kChunked.size())).value_or(0)
          : 0;
  if (text == "fused" || (parts >= 2 && parts <= kMostMicroBatches)) return {};
  return Error{fmt::format("--cross-entropy {}: must be fused or chunked:K, where K is 2 or more.",
                           text::OneLine(text))};
}

// Reads one of these words into `place`.
Status ReadWord(std::string_view option, const std::string& text,
                std::initializer_list<std::string_view> words, std::string& place) {
  place = text;
  if (IsOneOf(text, words)) return {};
  std::string listed;
  for (const std::string_view word : words)
    listed += (listed.empty() ? "" : word == *(words.end() - 1) ? " or " : ", ") + std::string(word);
  return Error{fmt::format("--{} {}: must be {}.", option, text::OneLine(text), listed)};
}

// "int8" or "nf4:layers.*"
Status CheckQuantize(const std::string& text) {
  const size_t colon = text.find(':');
  const bool has_paths =
      colon == std::string::npos || !Split(std::string_view(text).substr(colon + 1)).empty();
  if (has_paths && IsOneOf(std::string_view(text).substr(0, colon), {"int8", "nf4"})) return {};
  return Error{fmt::format("--quantize {}: must be int8 or nf4, and may name modules: nf4:'layers.*'.",
                           text::OneLine(text))};
}

// "tp:8" or "pp:4:8": numbers of ranks and of micro-batches.
Status CheckLayout(const std::string& text) {
  const std::string_view rest = std::string_view(text).substr(text.find(':') + 1);
  const size_t colon = text.starts_with("pp:") ? rest.find(':') : std::string_view::npos;
  const auto ranks = text::ParseNumber<uint32_t>(rest.substr(0, colon));
  const auto parts =
      colon == std::string_view::npos ? 1u : text::ParseNumber<uint32_t>(rest.substr(colon + 1));
  if (ranks.value_or(0) >= 2 && parts.value_or(0) >= 1) return {};
  return Error{
      fmt::format("--shard {}: needs a number of ranks, 2 or more, like tp:8 or pp:4.", text::OneLine(text))};
}

// A change that only code can make.
Status CheckBeyond(std::string_view option, const std::string& value) {
  std::optional<double> factor;
  std::optional<uint64_t> size;
  std::string word;
  if (option == "sequence") return ReadAmount(option, value, "tokens", factor, size);
  if (option == "precision") return ReadWord(option, value, {"bf16", "fp16"}, word);
  if (option == "quantize") return CheckQuantize(value);
  if (option == "shard" && whatif::AnsweredHow(option, value) == whatif::AnsweredBy::kRerun)
    return CheckLayout(value);
  if (const whatif::Lever* const lever = whatif::FindLever(option); lever != nullptr)
    return lever->Check(value);
  return Error{fmt::format("there is no change called \"{}\"; `vramscope whatif --list` shows all.",
                           text::OneLine(option))};
}

std::string BatchText(const Change& change) {
  return change.batch_factor ? fmt::format("{}x", *change.batch_factor)
                             : fmt::format("{}", *change.batch_size);
}

}  // namespace

Status Ask(std::string_view option, const std::string& value, Change& change) {
  if (option == "amp") return ReadWord(option, value, {"bf16", "fp16"}, change.amp);
  if (option == "checkpoint") return ReadCheckpoint(value, change);
  if (option == "batch") return ReadAmount(option, value, "samples", change.batch_factor, change.batch_size);
  if (option == "optimizer") return ReadOptimizer(value, change);
  if (option == "lora") return ReadLora(value, change);
  if (option == "attention") return ReadWord(option, value, {"flash", "efficient", "math"}, change.attention);
  if (option == "cross-entropy") return ReadCrossEntropy(value, change);
  if (option == "empty-cache")
    return ReadWord(option, value, {"before-backward", "before-optimizer", "after-step"}, change.empty_cache);
  if (option == "alloc-conf") {
    change.alloc_conf = value;
    return {};
  }
  if (option == "offload") {
    const std::vector<std::string> parts = Split(value);
    if (std::ranges::find(parts, "optimizer") != parts.end()) {
      VRAMSCOPE_TRY(CheckBeyond(option, value));
      change.beyond.emplace_back(option, value);
      return {};
    }
    return ReadWord(option, value, {"activations", "optimizer"}, change.offload);
  }
  if (option == "freeze") {
    change.freeze = Split(value);
    if (change.freeze.empty()) return Error{"--freeze names no modules; give a pattern like 'layers.*'."};
    return {};
  }
  if (option == "zero-grad-to-none" || option == "zero-grad") {
    std::string word;
    const Status read = option == "zero-grad" ? ReadWord(option, value, {"keep"}, word)
                                              : ReadWord(option, value, {"yes", "no"}, word);
    change.zero_grad_to_none = word == "yes";
    return read;
  }
  if (option == "accumulate") {
    change.accumulate = text::ParseNumber<uint64_t>(value).value_or(0);
    if (change.accumulate >= 2 && change.accumulate <= kMostMicroBatches) return {};
    return Error{fmt::format("--accumulate {}: must be a number, 2 or more.", text::OneLine(value))};
  }
  VRAMSCOPE_TRY(CheckBeyond(option, value));
  change.beyond.emplace_back(option, value);
  return {};
}

Status CheckValue(const whatif::Asked& asked) {
  const whatif::Lever* const lever = whatif::FindLever(asked.lever);
  if (lever != nullptr && whatif::AnsweredHow(asked.lever, asked.value) != whatif::AnsweredBy::kRerun)
    return lever->Check(asked.value);
  Change change;
  return Ask(asked.lever, asked.value, change);
}

const char* Change::WhyBeyond(std::string_view lever) const {
  const bool asked = std::ranges::any_of(beyond, [&](const auto& one) { return one.first == lever; });
  const whatif::LeverInfo* const row = whatif::FindLeverInfo(lever);
  return asked && row != nullptr ? row->by_hand : nullptr;
}

std::string Lora::Text() const {
  return modules.empty() ? fmt::format("{}", rank) : fmt::format("{}:{}", rank, fmt::join(modules, ","));
}

std::vector<std::string> Change::Levers() const {
  std::vector<std::string> levers;
  const auto add = [&](bool asked, const char* lever) {
    if (asked) levers.emplace_back(lever);
  };
  add(!amp.empty(), "amp");
  add(!checkpoint.empty(), "checkpoint");
  add(!offload.empty(), "offload");
  add(lora.rank != 0, "lora");
  add(!freeze.empty(), "freeze");
  add(!attention.empty(), "attention");
  add(!cross_entropy.empty(), "cross-entropy");
  add(batch_factor || batch_size, "batch");
  add(!optimizer.empty(), "optimizer");
  add(zero_grad_to_none.has_value(), "zero-grad-to-none");
  add(!empty_cache.empty(), "empty-cache");
  add(alloc_conf.has_value(), "alloc-conf");
  add(accumulate != 0, "accumulate");
  for (const auto& [name, value] : beyond) levers.push_back(name);
  return levers;
}

std::string Change::Text() const {
  std::vector<std::string> words;
  if (!amp.empty()) words.push_back("--amp " + amp);
  if (!checkpoint.empty()) words.push_back(fmt::format("--checkpoint {}", fmt::join(checkpoint, ",")));
  if (!offload.empty()) words.push_back("--offload " + offload);
  if (lora.rank != 0) words.push_back("--lora " + lora.Text());
  if (!freeze.empty()) words.push_back(fmt::format("--freeze {}", fmt::join(freeze, ",")));
  if (!attention.empty()) words.push_back("--attention " + attention);
  if (!cross_entropy.empty()) words.push_back("--cross-entropy " + cross_entropy);
  if (batch_factor || batch_size) words.push_back("--batch " + BatchText(*this));
  if (!optimizer.empty())
    words.push_back(
        fmt::format("--optimizer {}{}{}", optimizer, implementation.empty() ? "" : ":", implementation));
  if (zero_grad_to_none)
    words.push_back(fmt::format("--zero-grad-to-none {}", *zero_grad_to_none ? "yes" : "no"));
  if (!empty_cache.empty()) words.push_back("--empty-cache " + empty_cache);
  if (alloc_conf) words.push_back("--alloc-conf " + *alloc_conf);
  if (accumulate != 0) words.push_back(fmt::format("--accumulate {}", accumulate));
  for (const auto& [name, value] : beyond) words.push_back(fmt::format("--{} {}", name, value));
  return fmt::format("{}", fmt::join(words, " "));
}

std::string PlanFor(const Change& change, const std::string& notes_folder) {
  nlohmann::ordered_json plan;
  plan["notes"] = notes_folder;
  if (!change.amp.empty()) plan["amp"] = change.amp;
  if (!change.checkpoint.empty()) plan["checkpoint"] = change.checkpoint;
  if (!change.offload.empty()) plan["offload"] = change.offload;
  if (change.lora.rank != 0) plan["lora"] = {{"rank", change.lora.rank}, {"modules", change.lora.modules}};
  if (!change.freeze.empty()) plan["freeze"] = change.freeze;
  if (!change.attention.empty()) plan["attention"] = change.attention;
  if (!change.cross_entropy.empty()) plan["cross_entropy"] = change.cross_entropy;
  if (change.batch_factor) plan["batch"] = {{"factor", *change.batch_factor}};
  if (change.batch_size) plan["batch"] = {{"size", *change.batch_size}};
  if (!change.optimizer.empty()) plan["optimizer"] = change.optimizer;
  if (!change.implementation.empty()) plan["implementation"] = change.implementation;
  if (change.zero_grad_to_none) plan["zero_grad_to_none"] = *change.zero_grad_to_none;
  if (!change.empty_cache.empty()) plan["empty_cache"] = change.empty_cache;
  if (change.alloc_conf) plan["alloc_conf"] = *change.alloc_conf;
  if (change.accumulate != 0) plan["accumulate"] = change.accumulate;
  for (const auto& [lever, value] : change.beyond) plan["beyond"][lever] = value;
  return plan.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace vramscope::experiment
