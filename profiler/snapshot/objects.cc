// SPDX-License-Identifier: Apache-2.0
#include "profiler/snapshot/objects.h"

#include <algorithm>

namespace vramscope::snapshot {
namespace {

bool IsRecord(Kind kind) {
  return kind == Kind::kEvent || kind == Kind::kSegment || kind == Kind::kBlock || kind == Kind::kHistory ||
         kind == Kind::kAnnotation;
}

}  // namespace

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
  if (Value::FitsInt(number)) return Push(Value::Int(number));
  if (!Charge(2 * sizeof(uint64_t))) return false;
  big_ints_.push_back(static_cast<uint64_t>(number));
  return Push(Value(Kind::kBigInt, big_ints_.size() - 1));
}

bool Objects::PushUnsigned(uint64_t number) {
  if (number <= static_cast<uint64_t>(Value::kMaxInt)) return Push(Value::Int(static_cast<int64_t>(number)));
  if (!Charge(2 * sizeof(uint64_t))) return false;
  big_ints_.push_back(number);
  return Push(Value(Kind::kBigInt, big_ints_.size() - 1));
}

bool Objects::PushFloat(double number) {
  if (!Charge(2 * sizeof(double))) return false;
  floats_.push_back(number);
  return Push(Value(Kind::kFloat, floats_.size() - 1));
}

bool Objects::PushText(std::string_view text) {
  if (!Charge(TextTable::CostOf(text))) return false;
  return Push(Value(Kind::kString, out_.texts.Add(text)));
}

bool Objects::Open(Kind kind) {
  if (!Charge(2 * sizeof(Container))) return false;
  containers_.emplace_back();
  return Push(Value(kind, containers_.size() - 1));
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
      (list.Is(Kind::kList) && containers_[list.index()].first == kNone && AllFrames(first))) {
    if (!ListOfFrames(target, first)) return false;
  } else if (!list.Is(Kind::kList)) {
    return Fail("a value is appended to something that is not a list");
  } else if (!AddToContainer(list.index(), std::span(stack_).subspan(first))) {
    return false;
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
  if (list.Is(Kind::kList) && containers_[list.index()].shared)
    return AddToContainer(list.index(), std::span(stack_).subspan(first));
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
    last_stack_memo_ = containers_[list.index()].memo;
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
  return AddEvent(pairs, &event) && Push(event) && FillMemo(event, memo_index);
}

bool Objects::PushOpenDict(std::span<const Value> values, uint64_t memo_index) {
  if (!OpenDict() || (memo_index != kNoMemo && !Put(memo_index)) || !Mark()) return false;
  return std::all_of(values.begin(), values.end(), [this](Value value) { return Push(value); });
}

void Objects::Become(size_t target, Value value) {
  const uint32_t container = stack_[target].index();
  if (containers_[container].memo != kNone) memo_[containers_[container].memo] = value;
  stack_[target] = value;
  if (container + 1 == containers_.size()) containers_.pop_back();
}

bool Objects::SetPairs(size_t target, size_t first) {
  const auto pairs = std::span<const Value>(stack_).subspan(first);
  if (pairs.size() % 2 != 0) return Fail("a dict has a key without a value");
  const Value dict = stack_[target];
  if (dict.Is(Kind::kDict)) {
    const bool fresh = containers_[dict.index()].first == kNone && !containers_[dict.index()].shared;
    const Kind kind = fresh ? KindOf(pairs) : Kind::kDict;
    if (kind == Kind::kDict) {
      if (!AddToContainer(dict.index(), pairs)) return false;
    } else {
      Value record;
      if (kind == Kind::kEvent) {
        if (!AddEvent(pairs, &record)) return false;
      } else if (kind == Kind::kFrame) {
        if (!AddFrame(pairs, &record)) return false;
      } else {
        if (!NewRecord(kind, &record)) return false;
        SetKeys(record, pairs);
      }
      Become(target, record);
    }
  } else if (IsRecord(dict.kind())) {
    SetKeys(dict, pairs);
  } else {
    return Fail("a key is set in something that is not a dict");
  }
  stack_.resize(first);
  return true;
}

bool Objects::AddToContainer(uint32_t container, std::span<const Value> values) {
  containers_[container].length += static_cast<uint32_t>(values.size());
  for (const Value value : values) {
    const Kind kind = IsRecord(value.kind()) ? value.kind() : Kind::kNone;
    auto place = kind == Kind::kNone ? static_cast<uint32_t>(values_.size()) : value.index();
    if (kind == Kind::kNone) {
      if (values_.size() >= kMaxEvents || !Charge(sizeof(Value))) return TooMuch();
      values_.push_back(value);
    }
    Container& to = containers_[container];
    if (to.last != kNone && extents_[to.last].kind == kind &&
        extents_[to.last].first + extents_[to.last].count == place) {
      ++extents_[to.last].count;
      continue;
    }
    if (extents_.size() >= kMaxEvents || !Charge(sizeof(Extent))) return TooMuch();
    const auto extent = static_cast<uint32_t>(extents_.size());
    extents_.push_back({place, 1, kNone, kind});
    (to.last == kNone ? to.first : extents_[to.last].next) = extent;
    to.last = extent;
  }
  return true;
}

bool Objects::Put(uint64_t index) {
  if (stack_.empty()) return Fail("there is no value for the memo");
  const Value value = stack_.back();
  if (value.Is(Kind::kList) || value.Is(Kind::kDict)) {
    Container& container = containers_[value.index()];
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
  if (index >= kMaxEvents || !Charge((index + 1 - memo_.size()) * sizeof(Value))) return TooMuch();
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
  return depth < stack_.size() ? Text(stack_[stack_.size() - 1 - depth]) : std::string_view();
}

uint64_t Objects::LengthOf(Value list) const {
  return list.Is(Kind::kList) ? containers_[list.index()].length : 0;
}

uint64_t Objects::Number(Value value) const {
  switch (value.kind()) {
    case Kind::kInt:
      return static_cast<uint64_t>(std::max<int64_t>(value.AsInt(), 0));
    case Kind::kBool:
      return value.index();
    case Kind::kBigInt:
      return big_ints_[value.index()];
    default:
      return 0;
  }
}

std::string_view Objects::Text(Value value) const {
  return value.Is(Kind::kString) ? out_.texts[value.index()] : std::string_view();
}

}  // namespace vramscope::snapshot
