// SPDX-License-Identifier: Apache-2.0
// Calls of modules whose lines are told: each belongs to the statement that it stands in, as operators do.
//
//   x = self.norm(x)               line 12: x is what norm made when norm returns
//   x = self.norm(x) * scale            13: x is something else behind the mul
//
// Recordings of older recorders do not tell them; what a variable holds behind such calls is worked out from
// what it held in these (function_calls_given.cc, function_calls_behind.cc).
#include <algorithm>

#include "profiler/whatif/lifetimes/function_calls.h"
#include "profiler/whatif/lifetimes/helper_calls.h"
#include "profiler/whatif/lifetimes/holders.h"

namespace vramscope::whatif {

using model::kNone;

constexpr Position kBehindModule = 0.5;

void FunctionCalls::PlaceModules() {
  for (const auto& [module, callers] : facts_.module_callers_) {
    if (callers.size() >= kMostCallers || step_.modules[module].parent == kNone) continue;
    PlacedCall call;
    bool direct = false, first = true;
    for (const FunctionFacts::ModuleCaller& caller : callers) {
      const std::string_view text = facts_.frames_.at(caller.frame);
      Place place = PlaceOf(caller.frame);
      // Such a function of a library's base class is still the way into the module.
      if (first && place.function == nullptr && text.substr(0, text.find(" (")).ends_with("__call__"))
        continue;
      place.code = caller.place;
      if (first) direct = place.function != nullptr, first = false;
      if (place.function != nullptr) call.places.push_back(place);
      if (!IsOfHooks(text)) call.of_torch = IsOfTorch(text);
    }
    // A function that is not known may call it for something else than what it returns.
    if (!call.places.empty() && !direct) continue;
    std::reverse(call.places.begin(), call.places.end());
    modules_.emplace(module, std::move(call));
  }
}

// Torch's own, around a module's forward, where hooks are called.
bool FunctionCalls::IsOfHooks(std::string_view frame) {
  return frame.find("_call_impl.<locals>") != std::string_view::npos;
}
bool FunctionCalls::IsOfTorch(std::string_view frame) {
  return frame.find("/torch/nn/modules/") != std::string_view::npos;
}

bool FunctionCalls::IsPlaced(uint32_t module) const {
  const auto found = modules_.find(module);
  return found != modules_.end() && !found->second.places.empty();
}

// Begins and ends of calls of modules before an operator.
void FunctionCalls::PassModules(Position until) {
  if (modules_.empty()) return;
  while (true) {
    const auto end_of = [&](uint32_t module) { return step_.modules[module].end; };
    const auto first = std::ranges::min_element(open_modules_, {}, end_of);
    const Position end = first == open_modules_.end() ? kForever : end_of(*first);
    const Position begin = next_module_ < step_.modules.size() ? step_.modules[next_module_].begin : kForever;
    if (std::min(begin, end) >= until) return;
    if (end < begin) {
      const uint32_t module = *first;
      open_modules_.erase(first);
      EndModule(module);
      continue;
    }
    if (const auto found = modules_.find(next_module_); found != modules_.end()) {
      BeginModule(next_module_, found->second);
      open_modules_.push_back(next_module_);
    }
    ++next_module_;
  }
}

void FunctionCalls::BeginModule(uint32_t module, const PlacedCall& called) {
  const uint32_t function = step_.modules[module].parent;
  Stack& stack = stacks_[function];
  stack.end = step_.modules[function].end;
  now_ = step_.modules[module].begin;
  TurnRound(stack, called.places);
  Enter(stack, called.places, now_);
  if (stack.calls.empty()) return;
  stack.calls.back().code = called.places.back().code;
  SeeVariables(module, stack);
}

// for ...: x = layer(x): the same call again, or one before it, with nothing in another line between.
void FunctionCalls::TurnRound(Stack& stack, const std::vector<Place>& places) {
  if (places.empty() || places.size() > stack.calls.size()) return;
  const size_t depth = places.size() - 1;
  for (size_t around = 0; around < depth; ++around)
    if (stack.calls[around].at.line != places[around].line) return;
  Call& call = stack.calls[depth];
  const Place& place = places.back();
  if (call.at.function != place.function || call.code == 0 || place.code > call.code ||
      !IsInLoop(*place.function, place.line) || StatementAt(*place.function, place.line) != call.statement)
    return;
  Return(stack, depth + 1);
  Complete(call, stack.next - kAssigned);
  BeginStatement(call, place.line, call.statement);
}

// What a variable holds in the call shows what it was given, whatever gave it that. Of a name that several of
// the functions around have it is not told which of them has it.
void FunctionCalls::SeeVariables(uint32_t module, Stack& stack) {
  const auto found = seen_in_calls_.find(step_.modules[module].parent);
  if (found == seen_in_calls_.end() || !IsForward(stack, stack.calls.front())) return;
  const std::vector<InCall>& in_order = found->second;
  for (auto at = std::ranges::lower_bound(in_order, module, {}, &InCall::call);
       at != in_order.end() && at->call == module; ++at) {
    const InCall& seen = *at;
    const std::string_view name = step_.Text(seen.name);
    const auto has = [&](const Call& call) { return std::ranges::count(call.at.function->names, name) > 0; };
    const auto its = std::ranges::find_if(stack.calls, has);
    if (its == stack.calls.end() || std::any_of(its + 1, stack.calls.end(), has)) continue;
    Value& value = its->variables[name];
    if (value.block == seen.block || value.conversion != kNone) continue;
    if (value.block == kNone && !conversions_[seen.block].empty()) continue;
    Hold(value, stack.next - kAssigned);
    value = {seen.block, kNone};
  }
}

void FunctionCalls::EndModule(uint32_t module) {
  const uint32_t function = step_.modules[module].parent;
  const std::vector<Value> values = ReturnedBy(module);
  Stack& stack = stacks_[function];
  const auto behind = std::ranges::lower_bound(step_.ops, step_.modules[module].end, {}, &Op::begin);
  auto next = static_cast<uint32_t>(behind - step_.ops.begin());
  while (next < step_.ops.size() && step_.ops[next].parent != kNone) ++next;
  SetNext(stack, function, step_.modules[module].end, next);
  // What is given what it returned has that at once, whatever the program does before it computes anything.
  stack.next = std::min(stack.next, stack.done + kBehindModule);
  stack.last = values;
  if (IsPlaced(module)) TellMakerOf(values, module);
  stack.is_torchs = modules_.at(module).of_torch;
  const bool called = CallsAnother(function, next);
  for (Call& call : stack.calls) call.results = values, call.returned = true, call.called = called;
}

// What comes behind something that ended: the operator `next`, the call of a module, or the function's end.
void FunctionCalls::SetNext(Stack& stack, uint32_t function, Position done, uint32_t next) const {
  stack.done = done;
  stack.next = std::min(next < step_.ops.size() ? step_.ops[next].begin : kForever, stack.end);
  if (modules_.empty()) return;
  const auto call = std::ranges::lower_bound(step_.modules, done, {}, &ModuleCall::begin);
  for (auto i = call; i != step_.modules.end() && i->begin < stack.next; ++i)
    if (i->parent == function) stack.next = i->begin;
}

// Whether the operator is one of a module that the function called, and where that was is not told.
bool FunctionCalls::CallsAnother(uint32_t function, uint32_t op) const {
  if (op >= step_.ops.size() || call_of_[op] == function || !IsWithin(call_of_[op], function)) return false;
  if (modules_.empty()) return true;
  uint32_t module = call_of_[op];
  while (step_.modules[module].parent != function) module = step_.modules[module].parent;
  return !modules_.contains(module);
}

// What one of torch's modules computes last it returns and keeps nowhere: its caller's variables alone hold
// it.
void FunctionCalls::TellMakerOf(const std::vector<Value>& returned, uint32_t module) {
  const auto found = stacks_.find(module);
  if (returned.size() != 1 || found == stacks_.end() || !found->second.is_torchs) return;
  const uint32_t maker = OutermostMaker(step_, returned.front().block);
  if (maker != kNone && call_of_[maker] == module) told_[maker] = true;
}

// What the call of a module that ends now returned: of torch's own what they computed last.
std::vector<FunctionCalls::Value> FunctionCalls::ReturnedBy(uint32_t module) {
  const auto found = stacks_.find(module);
  if (found == stacks_.end()) return {};
  Stack& stack = found->second;
  if (stack.calls.empty())
    return stack.is_torchs && stack.last.size() == 1 ? stack.last : std::vector<Value>{};
  NoteSeen(module, stack, kForever);
  stack.over = true;
  Return(stack, 1);
  Call& call = stack.calls.front();
  const Position at = AssignedLast(call, stack);
  Complete(call, at);
  const Returned* const how = IsForward(stack, call) ? HowItReturned(call) : nullptr;
  std::vector<Value> values;
  if (how != nullptr && !how->kept && how->names[0] != Returned::kAnything) {
    const bool computed = how->names.size() == 1 && how->names[0] == Returned::kComputed;
    PassOver(call, std::max(call.statement.last, call.at.line), how->lines.first, at);
    if (!computed) values = ValuesOf(call, *how);
    if (computed && how->lines.Has(call.at.line)) values = call.results;
  }
  LetGo(call, stack);
  stack.calls.clear();
  return values;
}

}  // namespace vramscope::whatif
