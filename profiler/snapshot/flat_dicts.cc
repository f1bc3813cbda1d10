// SPDX-License-Identifier: Apache-2.0
#include "profiler/snapshot/flat_dicts.h"

#include "profiler/snapshot/opcode_bytes.h"

namespace vramscope::snapshot {

FlatDicts::Answer FlatDicts::Read(const uint8_t* p, const uint8_t* end) {
  constexpr ptrdiff_t kLongest = 16;  // an opcode that is handled here, plus the first byte of the next one
  if (end - p < kLongest) return {p, objects_.OpenDict()};
  uint64_t memo = Objects::kNoMemo;
  const uint8_t* const begins = SkipMemo(p, objects_.memo_size(), &memo);
  if (*begins != '(') return {p, objects_.OpenDict()};
  if (!objects_.ReserveMemo(memo)) return {p, false};
  p = begins + 1;
  count_ = 0;
  Step step = Step::kTaken;
  while (step == Step::kTaken && end - p >= kLongest) {
    if (*p == 'u' && objects_.IsEvent(std::span(values_).first(count_)))
      return {p + 1, objects_.PushEvent(std::span(values_).first(count_), memo)};
    step = ReadValue(p, end);
  }
  if (step == Step::kFailed) return {p, false};
  return {p, objects_.PushOpenDict(std::span(values_).first(count_), memo)};
}

FlatDicts::Step FlatDicts::Add(Value value) {
  if (count_ == values_.size()) return Step::kNotTaken;
  values_[count_++] = value;
  return Step::kTaken;
}

// Advances `p` only if it takes the value.
FlatDicts::Step FlatDicts::ReadValue(const uint8_t*& p, const uint8_t* end) {
  if (count_ == values_.size()) return Step::kNotTaken;
  Value value;
  switch (*p) {
    case 'h':
    case 'j': {
      const bool is_short = *p == 'h';
      if (!objects_.PlainMemo(is_short ? p[1] : Load<uint32_t>(p + 1), &value)) return Step::kNotTaken;
      p += is_short ? 2 : 5;
      return Add(value);
    }
    case 'K':
      p += 2;
      return Add(Value::Int(p[-1]));
    case 'M':
      p += 3;
      return Add(Value::Int(Load<uint16_t>(p - 2)));
    case 'J':
      p += 5;
      return Add(Value::Int(Load<int32_t>(p - 4)));
    case 0x8a:
      if (p[1] > kMaxShortLong) return Step::kNotTaken;
      value = Value::Int(ShortLong(p + 2, p[1]));
      p += 2 + p[1];
      return Add(value);
    case 'N':
      ++p;
      return Add(Value());
    case ']':
      return ReadList(p, end);
    case 0x86: {
      if (count_ < 2 || !Value::FitsPair(values_[count_ - 2], values_[count_ - 1])) return Step::kNotTaken;
      value = Value::Pair(values_[count_ - 2], values_[count_ - 1]);
      --count_;
      values_[count_ - 1] = value;
      uint64_t memo = Objects::kNoMemo;
      p = SkipMemo(p + 1, objects_.memo_size(), &memo);
      return objects_.ReserveMemo(memo) && objects_.FillMemo(value, memo) ? Step::kTaken : Step::kFailed;
    }
    default:
      return Step::kNotTaken;
  }
}

// Takes a list of known frames; the machine handles an empty list.
FlatDicts::Step FlatDicts::ReadList(const uint8_t*& p, const uint8_t* end) {
  const FrameLists::Answer list = lists_.Read(p + 1, end);
  if (!list.taken) return Step::kNotTaken;
  if (!list.ok) return Step::kFailed;
  p = list.next;
  return Add(objects_.Pop());
}

}  // namespace vramscope::snapshot
