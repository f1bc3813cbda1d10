// SPDX-License-Identifier: Apache-2.0
// Stores Python objects while a snapshot is read: the elements of lists and dicts, and large numbers. Objects
// of type Value refer to this data.
//
// A list is a chain of extents. Records with consecutive indices need only one extent. So all events of a
// device are usually one extent.
//
//   [event 17, event 18, event 19, 5, None]
//     extent {kEvent, first 17, count 3} ─► extent {values_: 5, None}
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "profiler/model/chunked.h"
#include "profiler/snapshot/budget.h"
#include "profiler/snapshot/snapshot.h"
#include "profiler/snapshot/value.h"

namespace vramscope::snapshot {

class Values {
 public:
  static constexpr uint32_t kMaxElements = 0xfffffff0;
  static constexpr uint32_t kNone = 0xffffffff;

  // String values refer to the texts of `of`.
  Values(const Snapshot* of, Budget* budget) : texts_(of->texts), budget_(*budget) {}

  // A list, or the keys and values of a dict. No longer used after the dict was converted to a record.
  struct Container {
    uint32_t first = kNone;  // index in extents_
    uint32_t last = kNone;
    uint32_t length = 0;
    uint32_t memo = kNone;  // index of the container in the pickle's memo
    bool shared = false;    // another value refers to it, so it must stay a container

    [[nodiscard]] bool empty() const { return first == kNone; }
  };

  // The next four functions return false if the memory budget is used up.
  [[nodiscard]] bool Open(Kind kind, Value* container);
  [[nodiscard]] bool Append(uint32_t container, std::span<const Value> elements);
  [[nodiscard]] bool AddBigInt(uint64_t bits, Value* number);
  [[nodiscard]] bool AddFloat(double number, Value* value);

  [[nodiscard]] Container& container(Value list) { return containers_[list.index()]; }
  [[nodiscard]] const Container& container(Value list) const { return containers_[list.index()]; }
  // Call when the container is no longer needed. Frees the memory only if the container is the newest.
  void Drop(uint32_t container) {
    if (container + 1 == containers_.size()) containers_.pop_back();
  }

  // Calls visit(value) for each element of a list or tuple, and each key and value of a dict.
  template <typename Visit>
  void ForEach(Value list, const Visit& visit) const;
  [[nodiscard]] uint64_t LengthOf(Value list) const {
    return list.Is(Kind::kList) ? container(list).length : 0;
  }
  // Sets `index` to the record of the first element. Returns false if the first element is not a record of
  // this kind.
  [[nodiscard]] bool FirstRecord(Value list, Kind kind, uint32_t* index) const;
  // Sets `pool`. Returns false if `value` is not a tuple of two numbers.
  [[nodiscard]] bool PoolOf(Value value, PoolId* pool) const;
  [[nodiscard]] uint64_t Number(Value value) const;  // 0 if negative or not a number
  [[nodiscard]] double Float(Value value) const { return floats_[value.index()]; }
  [[nodiscard]] int64_t BigInt(Value value) const { return static_cast<int64_t>(big_ints_[value.index()]); }
  [[nodiscard]] std::string_view Text(Value value) const {  // "" if it is not a text
    return value.Is(Kind::kString) ? texts_[value.index()] : std::string_view();
  }
  [[nodiscard]] Word WordAt(Value text) const {
    return text.Is(Kind::kString) ? texts_.word(text.index()) : Word::kOther;
  }

 private:
  // Adjacent elements of a list: either records with consecutive indices, or values in values_.
  struct Extent {
    uint32_t first = 0;
    uint32_t count = 0;
    uint32_t next = kNone;
    Kind kind = Kind::kNone;  // kNone: elements are in values_
  };

  const TextTable& texts_;
  Budget& budget_;
  std::vector<Container> containers_;
  size_t paid_containers_ = 0;  // highest number of containers at one time
  model::Chunked<Extent> extents_;
  model::Chunked<Value> values_;
  std::vector<double> floats_;
  std::vector<uint64_t> big_ints_;
};

template <typename Visit>
void Values::ForEach(Value list, const Visit& visit) const {
  if (list.Is(Kind::kPair)) {
    visit(Value::Int(list.first()));
    visit(Value::Int(list.second()));
  }
  if (!list.Is(Kind::kList) && !list.Is(Kind::kDict)) return;
  for (uint32_t at = container(list).first; at != kNone; at = extents_[at].next) {
    const Extent& extent = extents_[at];
    for (uint32_t i = 0; i < extent.count; ++i) {
      visit(extent.kind == Kind::kNone ? values_[extent.first + i] : Value(extent.kind, extent.first + i));
    }
  }
}

}  // namespace vramscope::snapshot
