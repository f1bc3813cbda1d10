// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/lifetimes/function_calls.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "profiler/whatif/lifetimes/helper_calls.h"
#include "profiler/whatif/lifetimes/holders.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

// In float32 it hands on what it is given; with other types what it does is known of conversions alone.
bool ConvertsNothing(const Step& step, const Op& op) {
  const std::string_view name = step.NameOf(op);
  const std::span<const Operand> inputs = InputsOf(step, op), results = OutputsOf(step, op);
  return (name == "aten::to" || name == "aten::type_as") && !inputs.empty() && !results.empty() &&
         inputs[0].block != kNone && inputs[0].block == results[0].block;
}

}  // namespace

FunctionCalls::FunctionCalls(const FunctionFacts& facts, Step& step)
    : facts_(facts),
      callers_(facts.callers_),
      step_(step),
      placed_(step.ops.size()),
      call_of_(CallsOf(step)),
      seen_in_calls_(SeenInCalls()),
      held_(step.blocks.size(), kBefore),
      unconverted_(step.blocks.size(), kBefore),
      since_(step.blocks.size()),
      conversions_(step.blocks.size()),
      views_(step),
      told_(step.ops.size(), false),
      for_itself_(step.ops.size(), false),
      elsewhere_(step.blocks.size(), false) {
  // Stable, since the innermost caller of an operator comes first.
  std::stable_sort(callers_.begin(), callers_.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
}

void FunctionCalls::Follow() {
  PlaceModules();
  auto caller = callers_.begin();
  auto ended = step_.op_ends.begin();
  for (uint32_t op = 0; op < step_.ops.size(); ++op) {
    std::vector<Place> places;
    size_t callers = 0;
    bool direct = false;  // the innermost one is known
    bool of_torch = false;
    PassModules(step_.ops[op].begin);
    for (; caller != callers_.end() && caller->first == op; ++caller, ++callers) {
      const Place place = PlaceOf(caller->second);
      if (place.function != nullptr) places.push_back(place);
      if (callers == 0) direct = place.function != nullptr;
      const std::string_view text = facts_.frames_.at(caller->second);
      if (!modules_.empty() && !IsOfHooks(text)) of_torch = IsOfTorch(text);
    }
    if (step_.ops[op].parent != kNone) continue;
    if (!places.empty()) placed_[op] = places.back(), placed_[op].itself = direct && places.size() == 1;
    for (; ended != step_.op_ends.end() && step_.ops[*ended].end <= step_.ops[op].end; ++ended)
      if (step_.ops[*ended].node == kNone) views_.End(*ended);
    if (call_of_[op] == kNone || step_.ops[op].node != kNone) continue;
    if (callers >= kMostCallers) continue;
    told_[op] = !places.empty();
    std::reverse(places.begin(), places.end());
    Stack& stack = stacks_[call_of_[op]];
    stack.end = step_.modules[call_of_[op]].end;
    now_ = step_.ops[op].begin;
    Enter(stack, places, now_);
    NoteSeen(call_of_[op], stack, now_);
    Note(stack, op, direct);
    stack.is_torchs = of_torch;
  }
  PassModules(kForever);
  for (auto& [call, stack] : stacks_) {
    NoteSeen(call, stack, kForever);
    stack.over = true;
    Return(stack, 0);
  }
  HoldUntilGiven();
  HoldBehindCalls();
  for (uint32_t block = 0; block < held_.size(); ++block) {
    const uint32_t maker = OutermostMaker(step_, block);
    const bool itself = maker != kNone && told_[maker] && !elsewhere_[block];
    const bool all = itself && conversions_[block].empty();
    const Position end = step_.blocks[block].end;  // longer was not seen
    if (itself || held_[block] > kBefore)
      step_.named.push_back(
          {block, std::min(held_[block], end), std::min(unconverted_[block], end), all, itself});
    // Mostly all of them hold what the operator returned that made the block.
    const bool one = since_[block].size() == 1 && maker != kNone;
    if (one && since_[block].begin()->first == step_.ops[maker].end) continue;
    for (const auto& [since, until] : since_[block])
      step_.named_since.push_back({block, since, std::min(until, end)});
  }
}

// "rotate (models/gpt.py:42)". A comprehension is a function of its own, "rotate.<locals>.<listcomp>", that
// returns where it stands.
FunctionCalls::Place FunctionCalls::PlaceOf(uint32_t frame) {
  const auto known = places_.find(frame);
  if (known != places_.end()) return known->second;
  Place& place = places_[frame];
  const std::string_view text = facts_.frames_.at(frame);
  const size_t open = text.find(" ("), colon = text.rfind(':');
  if (open == std::string_view::npos || open == 0 || text[open - 1] == '>' || colon == std::string_view::npos)
    return place;
  const auto file = facts_.files_.find(std::string(text.substr(open + 2, colon - open - 2)));
  const std::string_view name = text.substr(0, open);
  place.forward = name == "forward" || name.ends_with(".forward");
  std::from_chars(text.data() + colon + 1, text.data() + text.size(), place.line);
  if (file == facts_.files_.end()) return place;
  for (const Function& function : file->second) {
    const bool inner = place.function == nullptr || function.lines.first > place.function->lines.first;
    if (function.lines.Has(place.line) && inner) place.function = &function;
  }
  return place;
}

bool FunctionCalls::GoesOn(const Call& call, const Place& place) {
  if (call.at.function != place.function) return false;
  const std::vector<Lines>& loops = place.function->loops;
  // f(a,\n  b.g()): b.g() is behind f in the text, and runs before it.
  const int first = call.statement == Lines{} ? call.at.line : std::min(call.statement.first, call.at.line);
  return place.line >= first || std::any_of(loops.begin(), loops.end(), [&](const Lines& loop) {
           return loop.Has(place.line) && loop.Has(call.at.line);
         });
}

void FunctionCalls::Enter(Stack& stack, const std::vector<Place>& places, Position at) {
  size_t depth = 0;
  while (depth < stack.calls.size() && depth < places.size() && GoesOn(stack.calls[depth], places[depth])) {
    const int line = places[depth].line;
    if (stack.calls[depth].at.line != line) Return(stack, depth + 1);
    Move(stack.calls[depth], line, stack.next - kAssigned);
    ++depth;
  }
  Return(stack, depth);
  for (; depth < places.size(); ++depth) {
    Call call;
    call.at = places[depth];
    call.begin = at;
    call.statement = StatementAt(*call.at.function, call.at.line);
    stack.calls.push_back(std::move(call));
  }
}

void FunctionCalls::Move(Call& call, int line, Position at) {
  const Lines to = StatementAt(*call.at.function, line);
  if (to == call.statement && to != Lines{}) {
    call.at.line = line;
    return;
  }
  Complete(call, at);
  const int from = std::max(call.statement.last, call.at.line);
  PassOver(call, from, to == Lines{} ? line : to.first, at);
  BeginStatement(call, line, to);
}

void FunctionCalls::BeginStatement(Call& call, int line, Lines statement) {
  call.at.line = line;
  call.statement = statement;
  call.results.clear();
  call.made.clear();
  call.results_of.clear();
  call.converted = kNone;
  call.returned = false;
  call.code = 0;
}

void FunctionCalls::Complete(Call& call, Position at) {
  const bool again = RanAgain(call);
  for (const Given& given : call.at.function->given) {
    if (given.lines != call.statement) continue;
    if (given.what == Given::What::kOneOfEach && given.element == 0)
      call.results = ResultsOfEach(call, given.elements);
    const bool called = given.what == Given::What::kReturned && call.called && !IsShownNext(call, given);
    const bool one = given.elements == 1 && AllSame(call.results),
               fits = one || call.results.size() == given.elements;
    const bool known = fits && !called && given.what != Given::What::kNothingKnown;
    const Value returned = called && one && !again ? ReturnedByModule(call, given) : Value{};
    Give(call, given, known ? call.results[given.element] : returned, at);
    if (!known && given.what == Given::What::kReturned) NoteOneOf(call, given.name);
    // x, y = f(): both may be held. What a module returns may be what it was given.
    const bool to_module = call.returned || (called && fits);
    if (!known || again || call.returned) Untold(to_module && !again ? GivenToModules(call) : call.made);
  }
}

bool FunctionCalls::AllSame(const std::vector<Value>& values) {
  return !values.empty() &&
         std::all_of(values.begin(), values.end(), [&](const Value& value) { return value == values[0]; });
}

// Of what was computed in the statement, all that nothing else there was computed of.
std::vector<uint32_t> FunctionCalls::GivenToModules(const Call& call) const {
  std::set<uint32_t> taken;
  for (const uint32_t op : call.made)
    for (const Operand& operand : InputsOf(step_, step_.ops[op])) taken.insert(operand.block);
  std::vector<uint32_t> given;
  for (const uint32_t op : call.made) {
    const std::span<const Operand> results = OutputsOf(step_, step_.ops[op]);
    const bool free = std::none_of(results.begin(), results.end(),
                                   [&](const Operand& result) { return taken.contains(result.block); });
    if (free || op == call.made.back()) given.push_back(op);
  }
  return given;
}

void FunctionCalls::Untold(const std::vector<uint32_t>& ops) {
  for (const uint32_t op : ops)
    if (!for_itself_[op]) told_[op] = false;
}

// Statements without operators of their own, on the way from one line to another. What may have been passed
// over was not, for all that is known, when a module was called there.
void FunctionCalls::PassOver(Call& call, int from, int to, Position at) {
  for (const Given& given : call.at.function->given) {
    if (given.lines.first <= from || given.lines.last >= to) continue;
    const bool calls = given.what == Given::What::kReturned || given.what == Given::What::kOneOfEach ||
                       given.what == Given::What::kNothingKnown;
    if (calls && call.called && IsHandedBack(call)) continue;
    if (given.what == Given::What::kReturned && !call.called && IsOnlyHolder(call, given.name)) continue;
    if (!given.unsure || (calls && call.called)) Give(call, given, {}, at);
  }
}

void FunctionCalls::Give(Call& call, const Given& given, Value value, Position at) {
  if (given.what == Given::What::kHeldElsewhere) {
    const auto variable = call.variables.find(given.name);
    if (variable != call.variables.end()) HoldElsewhere(variable->second);
    return;
  }
  if (given.what == Given::What::kNothingKnown) value = {};
  if (given.what == Given::What::kOther) {
    const auto other = call.variables.find(given.from);
    value = other == call.variables.end() ? Value{} : other->second;
  }
  const auto [variable, fresh] = call.variables.try_emplace(given.name);
  if (!fresh && (variable->second != value || variable->second.since != value.since))
    Hold(variable->second, at);
  variable->second = value;
  call.one_of.erase(given.name);
}

void FunctionCalls::Note(Stack& stack, uint32_t op, bool direct) {
  const Op& done = step_.ops[op];
  const bool converts = ConvertsNothing(step_, done);
  if (converts) {
    const Operand& result = OutputsOf(step_, done)[0];
    conversions_[result.block].push_back({op, views_.Of(result)});
  }
  const std::vector<Value> results = ResultsOfOp(op);
  stack.last = results;
  if (results.size() > 1 && !AllSame(results)) told_[op] = false;  // one may be held by none of their names
  const uint32_t next = NextOutermost(step_, op);
  SetNext(stack, call_of_[op], done.end, next);
  const bool called = CallsAnother(call_of_[op], next);
  for (size_t depth = 0; depth < stack.calls.size(); ++depth) {
    Call& call = stack.calls[depth];
    call.results = results;
    call.made.push_back(op);
    call.results_of.push_back(results);
    call.called = called;
    call.returned = false;
    const bool own = direct && depth + 1 == stack.calls.size();
    if (own) NoteTaken(call, done);
    if (own && converts)
      call.converted = op;
    else if (!own || UsesConverted(call, done))
      call.converted = kNone;                // f(x.float(), w.unsqueeze(1)): what stands beside it does not
    if (depth > 0) NoteArguments(call, op);  // a module's own call holds what it is given
  }
}

bool FunctionCalls::UsesConverted(const Call& call, const Op& op) const {
  if (call.converted == kNone) return false;
  const uint32_t block = OutputsOf(step_, step_.ops[call.converted])[0].block;
  const std::span<const Operand> inputs = InputsOf(step_, op);
  return std::any_of(inputs.begin(), inputs.end(),
                     [&](const Operand& input) { return input.block == block; });
}

// x.float() * y: what has no name goes into one operator. f(x.float()) gives it one, and so does a, b = ...
void FunctionCalls::NoteTaken(const Call& call, const Op& op) {
  const std::vector<Given>& given = call.at.function->given;
  const bool several = std::any_of(given.begin(), given.end(), [&](const Given& one) {
    return one.lines == call.statement && one.elements > 1;
  });
  if (several || !UsesConverted(call, op)) return;
  const uint32_t block = OutputsOf(step_, step_.ops[call.converted])[0].block;
  // x.float().view(...), x.float().to(...): what that returns stands for the copy.
  for (const Operand& result : OutputsOf(step_, op))
    if (result.block == block) return;
  step_.ops[call.converted].taken = true;
  std::vector<Conversion>& conversions = conversions_[block];
  if (!conversions.empty() && conversions.back().op == call.converted) conversions.pop_back();
}

std::vector<FunctionCalls::Value> FunctionCalls::ResultsOfOp(uint32_t op) const {
  const bool converts = ConvertsNothing(step_, step_.ops[op]);
  std::vector<Value> values;
  for (const Operand& result : OutputsOf(step_, step_.ops[op])) {
    const bool there = result.block != kNone;
    const uint32_t conversion = converts ? op : there ? ConversionOf(result) : kNone;
    values.push_back(there ? Value{converts ? kNone : result.block, conversion, step_.ops[op].end} : Value{});
  }
  return values;
}

// x.permute(...).to(type) leaves x, and what is seen through it later, as they were: as an earlier one had
// made them.
uint32_t FunctionCalls::ConversionOf(const Operand& operand) const {
  const std::vector<Conversion>& of_block = conversions_[operand.block];
  const auto its = std::find_if(of_block.rbegin(), of_block.rend(), [&](const Conversion& one) {
    return one.tensor == kNone || views_.IsSeenThrough(operand, one.tensor) ||
           !views_.IsOlder(operand, one.op);
  });
  return its == of_block.rend() ? kNone : its->op;
}

void FunctionCalls::NoteArguments(Call& call, uint32_t op) {
  if (!call.at.function->keeps_arguments) return;
  for (const Operand& operand : InputsOf(step_, step_.ops[op])) {
    if (operand.block == kNone || step_.blocks[operand.block].begin == kBefore ||
        step_.blocks[operand.block].begin >= call.begin)
      continue;
    const uint32_t conversion = ConversionOf(operand);
    // It was given none that it made, itself or in a module that it called, where another name stood for it.
    const bool own = conversion != kNone &&
                     (step_.ops[conversion].begin >= call.begin ||
                      (call_of_[conversion] != call_of_[op] && IsWithin(call_of_[conversion], call_of_[op])));
    call.arguments.insert({operand.block, own ? kNone : conversion, call.begin});
  }
}

bool FunctionCalls::IsWithin(uint32_t inner, uint32_t call) const {
  while (inner != kNone && inner != call) inner = step_.modules[inner].parent;
  return inner != kNone;
}

// Calls from that depth on do.
void FunctionCalls::Return(Stack& stack, size_t depth) {
  for (; stack.calls.size() > depth; stack.calls.pop_back()) {
    Call& call = stack.calls.back();
    Complete(call, AssignedLast(call, stack));
    if (stack.calls.size() > 1) HandBack(call, stack.calls[stack.calls.size() - 2]);
    LetGo(call, stack);
  }
}

}  // namespace vramscope::whatif
