// SPDX-License-Identifier: Apache-2.0
#include "profiler/snapshot/values.h"

#include <algorithm>

namespace vramscope::snapshot {

bool Values::Open(Kind kind, Value* container) {
  // The place of a dropped container is reused; the budget was charged for it before.
  if (containers_.size() == paid_containers_) {
    if (!budget_.Charge(2 * sizeof(Container))) return false;
    ++paid_containers_;
  }
  containers_.emplace_back();
  *container = Value(kind, containers_.size() - 1);
  return true;
}

bool Values::Append(uint32_t container, std::span<const Value> elements) {
  containers_[container].length += static_cast<uint32_t>(elements.size());
  for (const Value value : elements) {
    const Kind kind = IsRecord(value.kind()) ? value.kind() : Kind::kNone;
    auto place = kind == Kind::kNone ? static_cast<uint32_t>(values_.size()) : value.index();
    if (kind == Kind::kNone) {
      if (values_.size() >= kMaxElements || !budget_.Charge(sizeof(Value))) return false;
      values_.push_back(value);
    }
    Container& to = containers_[container];
    if (to.last != kNone && extents_[to.last].kind == kind &&
        extents_[to.last].first + extents_[to.last].count == place) {
      ++extents_[to.last].count;
      continue;
    }
    if (extents_.size() >= kMaxElements || !budget_.Charge(sizeof(Extent))) return false;
    const auto extent = static_cast<uint32_t>(extents_.size());
    extents_.push_back({place, 1, kNone, kind});
    (to.last == kNone ? to.first : extents_[to.last].next) = extent;
    to.last = extent;
  }
  return true;
}

bool Values::AddBigInt(uint64_t bits, Value* number) {
  if (!budget_.Charge(2 * sizeof(uint64_t))) return false;
  big_ints_.push_back(bits);
  *number = Value(Kind::kBigInt, big_ints_.size() - 1);
  return true;
}

bool Values::AddFloat(double number, Value* value) {
  if (!budget_.Charge(2 * sizeof(double))) return false;
  floats_.push_back(number);
  *value = Value(Kind::kFloat, floats_.size() - 1);
  return true;
}

bool Values::FirstRecord(Value list, Kind kind, uint32_t* index) const {
  if (!list.Is(Kind::kList) || container(list).empty()) return false;
  const Extent& extent = extents_[container(list).first];
  *index = extent.first;
  return extent.kind == kind;
}

bool Values::PoolOf(Value value, PoolId* pool) const {
  if (value.Is(Kind::kPair)) {
    *pool = {value.first(), value.second()};
    return true;
  }
  if (!value.Is(Kind::kList) || container(value).empty()) return false;
  const Extent& extent = extents_[container(value).first];
  if (extent.count != 2 || extent.kind != Kind::kNone) return false;
  *pool = {Number(values_[extent.first]), Number(values_[extent.first + 1])};
  return true;
}

uint64_t Values::Number(Value value) const {
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

}  // namespace vramscope::snapshot
