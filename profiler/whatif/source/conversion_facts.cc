// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/source/conversion_facts.h"

#include <algorithm>
#include <map>
#include <optional>

#include "profiler/whatif/lifetimes/holders.h"
#include "profiler/whatif/precision/moments.h"

namespace vramscope::whatif {

namespace {

constexpr std::string_view kFirst = "first";
constexpr std::string_view kOwn = "own";
constexpr std::string_view kNarrowed = " narrowed";

std::optional<Asks> AsksOf(std::string_view word) {
  for (const auto& [name, asks] :
       {std::pair("type", Asks::kType), std::pair("tensor", Asks::kTensor),
        std::pair("origin", Asks::kOrigin), std::pair(kFirst.data(), Asks::kOrigin),
        std::pair(kOwn.data(), Asks::kNotTold), std::pair("-", Asks::kNotTold)})
    if (word == name) return asks;
  return std::nullopt;
}

}  // namespace

void ConversionFacts::AddMark(trace::MarkKind kind, std::string_view name) {
  if (kind == trace::MarkKind::kConversion) AddMark(name);
  if (kind == trace::MarkKind::kFactory) factories_.AddMark(name);
}

void ConversionFacts::AddMark(std::string_view name) {
  if (name.ends_with(kNarrowed)) {
    narrowed_.emplace(name.substr(0, name.size() - kNarrowed.size()));
    return;
  }
  constexpr std::string_view kAgain = " again";
  Fact fact;
  fact.again = name.ends_with(kAgain);
  if (fact.again) name.remove_suffix(kAgain.size());
  const size_t blank = name.rfind(' ');
  if (blank == std::string_view::npos) return;
  const std::string_view file = name.substr(0, name.substr(0, blank).rfind(':'));
  for (std::string_view words = name.substr(blank); !words.empty();) {
    words.remove_prefix(1);
    const std::string_view all = words.substr(0, words.find(',')), word = all.substr(0, all.find('@'));
    const std::optional<Asks> asks = AsksOf(word);
    if (!asks) return;
    fact.calls.push_back({*asks, word == kFirst, word == kOwn, LinesBehind(file, all.substr(word.size()))});
    words.remove_prefix(all.size());
  }
  lines_[std::string(name.substr(0, blank))] = std::move(fact);
}

// The file may have brackets in its name, the function's name has none.
void ConversionFacts::AddCaller(uint32_t op, std::string_view frame) {
  factories_.AddCaller(op, frame);
  const size_t open = frame.find(" (");
  if (open == std::string_view::npos || frame.back() != ')') return;
  callers_.try_emplace(op, frame.substr(open + 2, frame.size() - open - 3));  // else one around it
}

void ConversionFacts::AddAsked(uint32_t call, uint32_t block, std::string_view what) {
  constexpr std::string_view kAround = "around ";  // outside of modules, where tensors are made of nothing
  const std::string_view where = what.substr(kAsked.size());
  if (where.starts_with(kAround))
    factories_.AddAsked(where.substr(kAround.size()), block);
  else
    asked_[std::string(where)][call] = block;
}

// softmax(query @ keys, dtype=torch.float32).to(query.dtype): the way back to query tells its type as it was
// then. Of integers it tells nothing.
bool ConversionFacts::IsOfItsOrigin(const Step& step, uint32_t op, const std::string& line) const {
  const auto fact = lines_.find(line);
  const std::span<const Operand> given = InputsOf(step, step.ops[op]);
  return fact != lines_.end() && !given.empty() && IsFloat(given[0]) &&
         std::ranges::any_of(fact->second.calls, [](const Call& call) { return call.asks == Asks::kOrigin; });
}

void ConversionFacts::Tell(Step& step) const {
  const std::vector<uint32_t> calls = CallsOf(step);
  std::map<std::string_view, std::vector<uint32_t>> in_turn;
  for (const auto& [op, line] : callers_) {
    if (const auto asked = asked_.find(line); asked != asked_.end() && !IsOfItsOrigin(step, op, line)) {
      const auto told = asked->second.find(calls[op]);
      if (told != asked->second.end()) step.ops[op].asked = told->second;
    }
    const auto found = lines_.find(line);
    const bool like = IsFactory(step.NameOf(step.ops[op])) && step.ops[op].input_count != 0;
    if (found == lines_.end() || like) continue;  // zeros_like(x.float())
    if (found->second.calls.size() > 1)
      in_turn[found->first].push_back(op);
    else
      Tell(found->second.calls[0], step.ops[op]), step.ops[op].again = found->second.again;
    if (step.ops[op].asks == Asks::kTensor && step.ops[op].asked == model::kNone)
      step.ops[op].asked = factories_.AskedAround(line, op);
  }
  for (auto& [line, ops] : in_turn) TellEach(step, lines_.at(std::string(line)).calls, ops);
  TellWhose(step, calls);
  TellNarrowed(step, calls);
  factories_.Tell(step);
}

template <class Counts>
ConversionFacts::FirstOfLines ConversionFacts::FirstOperators(const std::vector<uint32_t>& calls,
                                                              const Counts& counts) const {
  FirstOfLines first;
  for (const auto& [op, line] : callers_) {
    if (!counts(op, line)) continue;
    uint32_t& earliest = first.try_emplace({line, calls[op]}, op).first->second;
    earliest = std::min(earliest, op);
  }
  return first;
}

// Of lines with one call alone.
void ConversionFacts::TellWhose(Step& step, const std::vector<uint32_t>& calls) const {
  const FirstOfLines first = FirstOperators(calls, [&](uint32_t op, const std::string&) {
    const std::span<const Operand> given = InputsOf(step, step.ops[op]);
    return !given.empty() && given[0].block != model::kNone && IsFloat(given[0]);
  });
  for (const auto& [index, line] : callers_) {
    const auto fact = lines_.find(line);
    Op& op = step.ops[index];
    if (fact == lines_.end() || fact->second.calls.size() != 1 || op.asked != model::kNone) continue;
    for (const std::string& other : fact->second.calls[0].lines) {
      const auto shows = first.find({other, calls[index]});
      if (shows == first.end() || shows->second >= index) continue;
      op.asked = InputsOf(step, step.ops[shows->second])[0].block;
      break;
    }
  }
}

void ConversionFacts::TellNarrowed(Step& step, const std::vector<uint32_t>& calls) const {
  const FirstOfLines first = FirstOperators(calls, [&](uint32_t op, const std::string& line) {
    return narrowed_.contains(line) && step.ops[op].input_count != 0;
  });
  for (const auto& [line, op] : first) step.ops[op].narrows = true;
}

void ConversionFacts::Tell(const Call& call, Op& op) {
  op.asks = call.asks, op.first = call.first;
  op.moves |= call.own;
}

// Each time that the line ran, all of its calls did.
void ConversionFacts::TellEach(Step& step, const std::vector<Call>& calls, std::vector<uint32_t>& ops) {
  std::erase_if(ops, [&](uint32_t op) { return step.NameOf(step.ops[op]) != "aten::to"; });
  if (ops.size() % calls.size() != 0) return;
  std::sort(ops.begin(), ops.end());
  for (size_t i = 0; i < ops.size(); ++i) Tell(calls[i % calls.size()], step.ops[ops[i]]);
}

bool OnlyMoves(const Step& step, const Op& op) {
  if (op.parent == model::kNone) return false;
  const Op& call = step.ops[op.parent];
  return call.moves && step.NameOf(call) == "aten::to" && call.parent == model::kNone;
}

}  // namespace vramscope::whatif
