// SPDX-License-Identifier: Apache-2.0
#include "profiler/snapshot/objects.h"

#include <algorithm>

namespace vramscope::snapshot {
bool Objects::Fail(std::string problem) {
  problem_ = std::move(problem);
  return false;
}

bool Objects::TooMuch() { return Fail("it needs more memory than a snapshot of its size can need"); }

bool Objects::NoMemo(uint64_t index) {
  return Fail("it refers to memo entry " + std::to_string(index) + ", which is empty");
}

bool Objects::GrowStack() {
  const size_t larger = std::max<size_t>(stack_.capacity() * 2, 4096);
  if (!Charge((larger - stack_.capacity()) * sizeof(Value))) return false;
  stack_.reserve(larger);
  return true;
}

bool Objects::PushInt(int64_t number) {
  Value value = Value::Int(number);
  if (!Value::FitsInt(number) && !values_.AddBigInt(static_cast<uint64_t>(number), &value)) return TooMuch();
  return Push(value);
}

bool Objects::PushUnsigned(uint64_t number) {
  if (number <= static_cast<uint64_t>(Value::kMaxInt)) return Push(Value::Int(static_cast<int64_t>(number)));
  Value value;
  return values_.AddBigInt(number, &value) ? Push(value) : TooMuch();
}

bool Objects::PushFloat(double number) {
  Value value;
  return values_.AddFloat(number, &value) ? Push(value) : TooMuch();
}

bool Objects::PushText(std::string_view text) {
  // Only a new text takes memory. JSON repeats the keys of a dict in each event, and a pickle of protocol 1
  // to 3 may do so too.
  const uint32_t before = out_.texts.size();
  const uint32_t id = out_.texts.Add(text);
  if (out_.texts.size() != before && !Charge(TextTable::CostOf(text))) return false;
  return Push(Value(Kind::kString, id));
}

bool Objects::Open(Kind kind) {
  Value container;
  return values_.Open(kind, &container) ? Push(container) : TooMuch();
}

bool Objects::OpenList() { return Open(Kind::kList); }
bool Objects::OpenDict() { return Open(Kind::kDict); }

bool Objects::Mark() {
  if (marks_.size() == kMaxMarks)
    return Fail("its lists and dicts are nested more than " + std::to_string(kMaxMarks) + " deep");
  marks_.push_back(static_cast<uint32_t>(stack_.size()));
  return true;
}

// Removes the last mark and gets where its values begin. At least `below` values must lie below it.
bool Objects::TopMark(size_t* first, size_t below) {
  if (marks_.empty() || marks_.back() > stack_.size() || marks_.back() < below)
    return Fail("a list or dict ends that did not begin");
  *first = marks_.back();
  marks_.pop_back();
  return true;
}

bool Objects::Append() {
  if (stack_.size() < 2) return Fail("a value is appended without a list");
  return AppendValues(stack_.size() - 2, stack_.size() - 1);
}

bool Objects::Appends() {
  size_t first = 0;
  return TopMark(&first, 1) && AppendValues(first - 1, first);
}

bool Objects::SetItem() {
  if (stack_.size() < 3) return Fail("a key is set without a dict");
  return SetPairs(stack_.size() - 3, stack_.size() - 2);
}

bool Objects::SetItems() {
  size_t first = 0;
  return TopMark(&first, 1) && SetPairs(first - 1, first);
}

bool Objects::ListSinceMark() {
  size_t first = 0;
  if (!TopMark(&first, 0) || !OpenList()) return false;
  std::rotate(stack_.begin() + static_cast<ptrdiff_t>(first), stack_.end() - 1, stack_.end());
  return AppendValues(first, first + 1);
}

bool Objects::DictSinceMark() {
  size_t first = 0;
  if (!TopMark(&first, 0) || !OpenDict()) return false;
  std::rotate(stack_.begin() + static_cast<ptrdiff_t>(first), stack_.end() - 1, stack_.end());
  return SetPairs(first, first + 1);
}

bool Objects::TupleSinceMark() {
  if (marks_.empty() || marks_.back() + 2 != stack_.size()) return ListSinceMark();
  marks_.pop_back();
  return Tuple(2);
}

bool Objects::Tuple(size_t length) {
  if (stack_.size() < length) return Fail("a tuple has more values than there are");
  if (length == 2 && Value::FitsPair(stack_.end()[-2], stack_.end()[-1])) {
    const Value pair = Value::Pair(stack_.end()[-2], stack_.end()[-1]);
    stack_.resize(stack_.size() - 2);
    return Push(pair);
  }
  const size_t first = stack_.size() - length;
  if (!OpenList()) return false;
  std::rotate(stack_.begin() + static_cast<ptrdiff_t>(first), stack_.end() - 1, stack_.end());
  return AppendValues(first, first + 1);
}

bool Objects::AppendValues(size_t target, size_t first) {
  const Value list = stack_[target];
  if (list.Is(Kind::kStack) ||
      (list.Is(Kind::kList) && values_.container(list).empty() && AllFrames(first))) {
    if (!ListOfFrames(target, first)) return false;
  } else if (!list.Is(Kind::kList)) {
    return Fail("a value is appended to something that is not a list");
  } else if (!values_.Append(list.index(), std::span(stack_).subspan(first))) {
    return TooMuch();
  }
  stack_.resize(first);
  return true;
}

bool Objects::AllFrames(size_t first) {
  return first < stack_.size() && std::all_of(stack_.begin() + static_cast<ptrdiff_t>(first), stack_.end(),
                                              [](Value value) { return value.Is(Kind::kFrame); });
}

bool Objects::ListOfFrames(size_t target, size_t first) {
  const Value list = stack_[target];
  if (list.Is(Kind::kList) && values_.container(list).shared)
    return values_.Append(list.index(), std::span(stack_).subspan(first)) || TooMuch();
  frames_.clear();
  if (list.Is(Kind::kStack)) {  // a list with more frames than its writer puts into one batch
    const auto before = out_.stacks.stack(list.index());
    frames_.assign(before.begin(), before.end());
  }
  for (size_t i = first; i < stack_.size(); ++i) {
    if (!stack_[i].Is(Kind::kFrame)) return Fail("a stack contains something that is not a frame");
    frames_.push_back(stack_[i].index());
  }
  StackId stack = 0;
  if (!AddStack(frames_, &stack)) return false;
  const Value becomes(Kind::kStack, stack);
  if (list.Is(Kind::kList)) {
    last_stack_memo_ = values_.container(list).memo;
    Become(target, becomes);
  } else {
    if (last_stack_memo_ != kNone && memo_[last_stack_memo_] == list) memo_[last_stack_memo_] = becomes;
    stack_[target] = becomes;
  }
  return true;
}

bool Objects::AddStack(std::span<const FrameId> frames, StackId* stack) {
  const uint32_t before = out_.stacks.stack_count();
  *stack = out_.stacks.AddStack(frames);
  return out_.stacks.stack_count() == before || Charge(StackTable::StackCost(frames.size()));
}

bool Objects::PushStack(StackId stack, uint64_t memo_index) {
  const Value value(Kind::kStack, stack);
  last_stack_memo_ = memo_index == kNoMemo ? kNone : static_cast<uint32_t>(memo_index);
  return Push(value) && (memo_index == kNoMemo || MemoizeValue(value, memo_index));
}

bool Objects::PushEvent(std::span<const Value> pairs, uint64_t memo_index) {
  Value event;
  return (records_.AddEvent(pairs, &event) || TooMuch()) && Push(event) && FillMemo(event, memo_index);
}

bool Objects::PushOpenDict(std::span<const Value> values, uint64_t memo_index) {
  if (!OpenDict() || (memo_index != kNoMemo && !Put(memo_index)) || !Mark()) return false;
  return std::all_of(values.begin(), values.end(), [this](Value value) { return Push(value); });
}

void Objects::Become(size_t target, Value value) {
  const uint32_t container = stack_[target].index();
  if (const uint32_t memo = values_.container(stack_[target]).memo; memo != kNone) memo_[memo] = value;
  stack_[target] = value;
  values_.Drop(container);
}

bool Objects::SetPairs(size_t target, size_t first) {
  const auto pairs = std::span<const Value>(stack_).subspan(first);
  if (pairs.size() % 2 != 0) return Fail("a dict has a key without a value");
  const Value dict = stack_[target];
  if (dict.Is(Kind::kDict)) {
    const Values::Container& container = values_.container(dict);
    const Kind kind = container.empty() && !container.shared ? records_.KindOf(pairs) : Kind::kDict;
    if (kind == Kind::kDict) {
      if (!values_.Append(dict.index(), pairs)) return TooMuch();
    } else {
      Value record;
      if (!records_.Add(kind, pairs, &record)) return TooMuch();
      Become(target, record);
    }
  } else if (IsRecord(dict.kind())) {
    records_.SetKeys(dict, pairs);
  } else {
    return Fail("a key is set in something that is not a dict");
  }
  stack_.resize(first);
  return true;
}

bool Objects::Put(uint64_t index) {
  if (stack_.empty()) return Fail("there is no value for the memo");
  const Value value = stack_.back();
  if (value.Is(Kind::kList) || value.Is(Kind::kDict)) {
    Values::Container& container = values_.container(value);
    if (container.memo != kNone) container.shared = true;
    container.memo = static_cast<uint32_t>(index);
  }
  return MemoizeValue(value, index);
}

bool Objects::MemoizeValue(Value value, uint64_t index) {
  if (index < memo_.size()) {
    if (memo_[index] != kUnset && memo_[index] != value)
      return Fail("it puts two things into memo entry " + std::to_string(index));
    memo_[index] = value;
    return true;
  }
  if (index >= Values::kMaxElements || !Charge((index + 1 - memo_.size()) * sizeof(Value))) return TooMuch();
  while (memo_.size() < index) memo_.push_back(kUnset);
  memo_.push_back(value);
  return true;
}

bool Objects::Finish(Value* root) {
  if (stack_.size() != 1 || !marks_.empty())
    return Fail("it ends with " + std::to_string(stack_.size()) + " values instead of one");
  *root = stack_.back();
  return true;
}

std::string_view Objects::TextFromTop(size_t depth) const {
  return depth < stack_.size() ? values_.Text(stack_[stack_.size() - 1 - depth]) : std::string_view();
}

}  // namespace vramscope::snapshot
