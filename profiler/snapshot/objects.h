// SPDX-License-Identifier: Apache-2.0
// The state of the machine that executes the pickle of a snapshot: its stack and its memo. Both contain
// values: plain values, lists and dicts (values.h), and records of a snapshot such as events (records.h).
//
// A dict with the keys of an event is converted to an Event as soon as it is complete. A list of frames is
// converted to the number of a stack.
//
//   { "action": "alloc", "addr": ..., "frames": [f, g, h] }
//         SetItems ─►  Value(kEvent, 17)       into Snapshot::events
//   [f, g, h]
//         Appends  ─►  Value(kStack, 5)        into Snapshot::stacks
//
// Each function executes one instruction of a pickle. The JSON reader calls the same functions. A function
// returns false if the input is invalid or needs too much memory. problem() then has the reason, and no
// further call is allowed.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/model/chunked.h"
#include "profiler/snapshot/budget.h"
#include "profiler/snapshot/records.h"
#include "profiler/snapshot/snapshot.h"
#include "profiler/snapshot/value.h"
#include "profiler/snapshot/values.h"

namespace vramscope::snapshot {

class Objects {
 public:
  static constexpr size_t kMaxMarks = 256;  // nested open lists and dicts; a snapshot has 7

  explicit Objects(Snapshot* into)
      : out_(*into), values_(into, &budget_), records_(into, &values_, &budget_) {}
  Objects(const Objects&) = delete;  // its parts refer to each other
  Objects& operator=(const Objects&) = delete;

  Budget& budget() { return budget_; }
  [[nodiscard]] uint64_t bytes_read() const { return budget_.bytes_read(); }
  [[nodiscard]] const std::string& problem() const { return problem_; }

  // --- values
  [[nodiscard]] bool Push(Value value) {
    if (stack_.size() == stack_.capacity() && !GrowStack()) return false;
    stack_.push_back(value);
    return true;
  }
  [[nodiscard]] bool PushInt(int64_t number);
  [[nodiscard]] bool PushUnsigned(uint64_t number);
  // Pushes a float. The caller also converts integers of more than 64 bits to a double.
  [[nodiscard]] bool PushFloat(double number);
  [[nodiscard]] bool PushText(std::string_view text);
  [[nodiscard]] bool OpenList();
  [[nodiscard]] bool OpenDict();
  [[nodiscard]] bool Mark();

  // --- containers: made from the values after the last mark, or from the last values of the stack
  [[nodiscard]] bool Append();   // moves the last value into the list below it
  [[nodiscard]] bool Appends();  // moves the values after the mark into the list below the mark
  [[nodiscard]] bool SetItem();
  [[nodiscard]] bool SetItems();
  [[nodiscard]] bool ListSinceMark();   // makes a list of the values after the mark
  [[nodiscard]] bool TupleSinceMark();  // makes a tuple; two small numbers become one Value without a list
  [[nodiscard]] bool DictSinceMark();
  [[nodiscard]] bool Tuple(size_t length);

  // --- memo
  [[nodiscard]] bool Memoize() { return Put(memo_.size()); }
  [[nodiscard]] bool Put(uint64_t index);
  [[nodiscard]] bool Get(uint64_t index) {
    if (index >= memo_.size() || memo_[index] == kUnset) return NoMemo(index);
    const Value value = memo_[index];
    if (value.Is(Kind::kList) || value.Is(Kind::kDict)) values_.container(value).shared = true;
    return Push(value);
  }
  // Sets `*frame` to the frame in memo entry `index`. False if the entry does not exist or is not a frame.
  [[nodiscard]] bool FrameAt(uint64_t index, FrameId* frame) const {
    if (index >= memo_.size() || !memo_[index].Is(Kind::kFrame)) return false;
    *frame = memo_[index].index();
    return true;
  }
  // For a complete list of frames. AddStack stores the stack. PushStack pushes its number, and also stores it
  // in memo entry `memo_index` unless that is kNoMemo.
  [[nodiscard]] bool AddStack(std::span<const FrameId> frames, StackId* stack);
  static constexpr uint64_t kNoMemo = ~uint64_t{0};
  [[nodiscard]] bool PushStack(StackId stack, uint64_t memo_index);

  // --- a dict that is read at once (flat_dicts.h) Creates an empty memo entry; does nothing for kNoMemo.
  [[nodiscard]] bool ReserveMemo(uint64_t index) { return index == kNoMemo || MemoizeValue(kUnset, index); }
  [[nodiscard]] bool FillMemo(Value value, uint64_t index) {
    return index == kNoMemo || MemoizeValue(value, index);
  }
  // Sets `*value` to the value of a memo entry if that value can no longer change; otherwise returns false.
  [[nodiscard]] bool PlainMemo(uint64_t index, Value* value) const {
    if (index >= memo_.size() || memo_[index] == kUnset) return false;
    *value = memo_[index];
    return value->Is(Kind::kString) || value->Is(Kind::kStack) || value->Is(Kind::kPair);
  }
  [[nodiscard]] bool IsEvent(std::span<const Value> pairs) const {
    return pairs.size() % 2 == 0 && records_.KindOf(pairs) == Kind::kEvent;
  }
  // Pushes a complete event as one value, and also stores it in memo entry `memo_index`. `pairs`: keys and
  // values in turn.
  [[nodiscard]] bool PushEvent(std::span<const Value> pairs, uint64_t memo_index);
  // Pushes a dict that is not complete: the dict, a mark, and the keys and values that were read.
  [[nodiscard]] bool PushOpenDict(std::span<const Value> values, uint64_t memo_index);
  // Removes and returns the last value. The stack must not be empty.
  [[nodiscard]] Value Pop() {
    const Value value = stack_.back();
    stack_.pop_back();
    return value;
  }

  // Call at the end of the input. Sets `*root` to the only value on the stack. False if the stack does not
  // have exactly one value.
  [[nodiscard]] bool Finish(Value* root);
  // Returns the text that is `depth` values below the top of the stack; "" if there is no text. Error
  // messages about STACK_GLOBAL, which is not accepted, contain this text.
  [[nodiscard]] std::string_view TextFromTop(size_t depth) const;
  [[nodiscard]] uint64_t memo_size() const { return memo_.size(); }

  [[nodiscard]] const Values& values() const { return values_; }
  [[nodiscard]] const Records& records() const { return records_; }

 private:
  static constexpr Value kUnset{Kind::kNone, 1};
  static constexpr uint32_t kNone = Values::kNone;

  bool Fail(std::string problem);
  bool NoMemo(uint64_t index);
  bool TooMuch();
  bool Charge(uint64_t bytes) { return budget_.Charge(bytes) || TooMuch(); }
  bool GrowStack();
  bool Open(Kind kind);
  bool MemoizeValue(Value value, uint64_t index);

  [[nodiscard]] bool TopMark(size_t* first, size_t below);
  bool AppendValues(size_t target, size_t first);
  bool SetPairs(size_t target, size_t first);
  bool AllFrames(size_t first);
  bool ListOfFrames(size_t target, size_t first);
  // Replaces the container at stack_[target] with `value`, on the stack and in the memo.
  void Become(size_t target, Value value);

  Snapshot& out_;
  Budget budget_;
  Values values_;
  Records records_;
  std::string problem_;

  std::vector<Value> stack_;
  std::vector<uint32_t> marks_;
  model::Chunked<Value> memo_;

  std::vector<FrameId> frames_;       // frames of the list that is being read
  uint32_t last_stack_memo_ = kNone;  // memo entry of the last list that was converted to a stack
};

}  // namespace vramscope::snapshot
