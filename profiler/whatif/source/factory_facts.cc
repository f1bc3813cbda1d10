// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/source/factory_facts.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "profiler/whatif/lifetimes/holders.h"

namespace vramscope::whatif {

namespace {

using model::kNone;

constexpr std::array<std::string_view, 20> kFactories = {
    "zeros",      "ones",      "empty",      "full",      "arange",    "linspace",  "logspace",
    "eye",        "rand",      "randn",      "new_zeros", "new_ones",  "new_empty", "new_full",
    "zeros_like", "ones_like", "empty_like", "full_like", "rand_like", "randn_like"};

// "models/gpt.py:42" of "scan (models/gpt.py:42)".
std::string_view LineOf(std::string_view frame) {
  const size_t open = frame.find(" (");
  if (open == std::string_view::npos || !frame.ends_with(')')) return {};
  return frame.substr(open + 2, frame.size() - open - 3);
}

// "models/gpt.py" of "models/gpt.py:42", and of "utils.py:7<models/gpt.py:42": the file that says it. Files
// of what was typed in have names in such brackets.
std::string_view FileOf(std::string_view line) {
  size_t sign = line.find('<', 1);
  while (sign != std::string_view::npos && (line[sign - 1] < '0' || line[sign - 1] > '9'))
    sign = line.find('<', sign + 1);
  if (sign != std::string_view::npos) line.remove_prefix(sign + 1);
  return line.substr(0, line.rfind(':'));
}

}  // namespace

bool IsFactory(std::string_view op) {
  constexpr std::string_view kSpace = "aten::";
  return op.starts_with(kSpace) &&
         std::ranges::find(kFactories, op.substr(kSpace.size())) != kFactories.end();
}

std::vector<std::string> LinesBehind(std::string_view file, std::string_view numbers) {
  std::vector<std::string> lines;
  while (!numbers.empty()) {
    numbers.remove_prefix(1);
    const std::string_view number = numbers.substr(0, numbers.find('@'));
    lines.push_back(std::string(file) + ":" + std::string(number));
    numbers.remove_prefix(number.size());
  }
  return lines;
}

void FactoryFacts::AddMark(std::string_view name) {
  const size_t blank = name.rfind(' ');
  if (blank == std::string_view::npos) return;
  const std::string_view line = name.substr(0, blank), file = FileOf(line);
  std::vector<Fact> facts;
  for (std::string_view words = name.substr(blank); !words.empty();) {
    words.remove_prefix(1);
    const std::string_view all = words.substr(0, words.find(','));
    const std::string_view word = all.substr(0, all.find('@'));
    words.remove_prefix(all.size());
    if (word != "type" && word != "tensor" && word != "-") return;
    Fact& fact = facts.emplace_back();
    if (word != "-") fact.asks = word == "type" ? Asks::kType : Asks::kTensor;
    fact.lines = LinesBehind(file, all.substr(word.size()));
  }
  lines_[std::string(line)] = std::move(facts);
}

void FactoryFacts::AddCaller(uint32_t op, std::string_view frame) {
  const std::string line(LineOf(frame));
  if (line.empty()) return;
  const auto [caller, innermost] = callers_.try_emplace(op, Caller{line, ""});
  if (!innermost && caller->second.both.empty()) caller->second.both = caller->second.line + "<" + line;
}

void FactoryFacts::AddAsked(std::string_view line, uint32_t block) {
  const uint32_t behind = callers_.empty() ? 0 : callers_.rbegin()->first;
  asked_[std::string(line)].emplace_back(behind, block);
}

uint32_t FactoryFacts::AskedAround(std::string_view line, uint32_t op) const {
  const auto found = asked_.find(std::string(line));
  uint32_t asked = kNone;
  if (found == asked_.end()) return asked;
  for (const auto& [behind, block] : found->second)
    if (behind <= op) asked = block;
  return asked;
}

void FactoryFacts::Tell(Step& step) const {
  if (lines_.empty()) return;
  const std::vector<uint32_t> calls = CallsOf(step);
  std::map<std::pair<std::string_view, uint32_t>, uint32_t> first;  // by line and call of a module
  std::map<std::string_view, std::vector<uint32_t>> made;
  for (const auto& [op, caller] : callers_) {
    first.try_emplace({caller.line, calls[op]}, op);
    if (!IsFactory(step.NameOf(step.ops[op]))) continue;
    const std::string& line = lines_.contains(caller.line) ? caller.line : caller.both;
    if (lines_.contains(line)) made[line].push_back(op);
  }
  for (const auto& [line, ops] : made) {
    const std::vector<Fact>& facts = lines_.at(std::string(line));
    if (ops.size() % facts.size() != 0) continue;
    for (size_t i = 0; i < ops.size(); ++i) {
      Op& op = step.ops[ops[i]];
      const Fact& fact = facts[i % facts.size()];
      op.asks = fact.asks;
      const uint32_t call = calls[ops[i]];
      if (op.asked == kNone) op.asked = AskedAround(line, ops[i]);
      const auto ran = std::ranges::find_if(fact.lines, [&](const std::string& one) {
        return first.contains({one, call});
      });
      if (op.asked != kNone || ran == fact.lines.end()) continue;
      const auto shows = first.find({*ran, call});
      const std::span<const Operand> given = InputsOf(step, step.ops[shows->second]);
      if (!given.empty() && given[0].argument == 0 && given[0].element == 0) op.asked = given[0].block;
    }
  }
}

}  // namespace vramscope::whatif
