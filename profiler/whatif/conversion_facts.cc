// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/conversion_facts.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

namespace vramscope::whatif {

namespace {

std::optional<Asks> AsksOf(std::string_view word) {
  for (const auto& [name, asks] : {std::pair("type", Asks::kType), std::pair("tensor", Asks::kTensor),
                                   std::pair("origin", Asks::kOrigin), std::pair("-", Asks::kNotTold)})
    if (word == name) return asks;
  return std::nullopt;
}

}  // namespace

void ConversionFacts::AddMark(std::string_view name) {
  constexpr std::string_view kAgain = " again";
  Fact fact;
  fact.again = name.ends_with(kAgain);
  if (fact.again) name.remove_suffix(kAgain.size());
  const size_t blank = name.rfind(' ');
  if (blank == std::string_view::npos) return;
  for (std::string_view words = name.substr(blank); !words.empty();) {
    words.remove_prefix(1);
    const std::string_view word = words.substr(0, words.find(','));
    const std::optional<Asks> asks = AsksOf(word);
    if (!asks) return;
    fact.asks.push_back(*asks);
    words.remove_prefix(word.size());
  }
  lines_[std::string(name.substr(0, blank))] = std::move(fact);
}

// The file may have brackets in its name, the function's name has none.
void ConversionFacts::AddCaller(uint32_t op, std::string_view frame) {
  const size_t open = frame.find(" (");
  if (open == std::string_view::npos || frame.back() != ')') return;
  callers_.try_emplace(op, frame.substr(open + 2, frame.size() - open - 3));  // else one around it
}

void ConversionFacts::AddAsked(uint32_t op, uint32_t block, std::string_view what) {
  asked_[std::string(what.substr(kAsked.size()))].emplace_back(op, block);
}

void ConversionFacts::TellAsked(uint32_t op, const std::string& line, Step& step) const {
  const auto asked = asked_.find(line);
  if (asked == asked_.end()) return;
  const auto behind = std::upper_bound(asked->second.begin(), asked->second.end(), op,
                                       [](uint32_t at, const auto& one) { return at < one.first; });
  if (behind != asked->second.begin()) step.ops[op].asked = std::prev(behind)->second;
}

void ConversionFacts::Tell(Step& step) const {
  std::map<std::string_view, std::vector<uint32_t>> in_turn;
  for (const auto& [op, line] : callers_) {
    TellAsked(op, line, step);
    const auto found = lines_.find(line);
    if (found == lines_.end()) continue;
    if (found->second.asks.size() > 1)
      in_turn[found->first].push_back(op);
    else
      step.ops[op].asks = found->second.asks[0], step.ops[op].again = found->second.again;
  }
  for (auto& [line, ops] : in_turn) TellEach(step, lines_.at(std::string(line)).asks, ops);
}

// Each time that the line ran, all of its calls did.
void ConversionFacts::TellEach(Step& step, const std::vector<Asks>& asks, std::vector<uint32_t>& ops) {
  std::erase_if(ops, [&](uint32_t op) { return step.NameOf(step.ops[op]) != "aten::to"; });
  if (ops.size() % asks.size() != 0) return;
  std::sort(ops.begin(), ops.end());
  for (size_t i = 0; i < ops.size(); ++i) step.ops[ops[i]].asks = asks[i % asks.size()];
}

}  // namespace vramscope::whatif
