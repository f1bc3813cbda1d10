// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/order/id_map.h"

namespace vramscope::collector {

IdMap::IdMap(TraceOutput& output, std::shared_ptr<const IdMap> parent, uint32_t first_own_string)
    : output_(output), parent_(std::move(parent)), first_own_string_(first_own_string) {}

void IdMap::Table::Set(uint64_t id, uint32_t value) {
  constexpr uint64_t kSlack = 1 << 16;  // threads define ids slightly out of order
  ++defined_;
  if (id >= 2 * defined_ + kSlack) {
    sparse_[id] = value;
    return;
  }
  if (id >= dense_.size()) dense_.resize(id + 1);
  dense_[id] = value;
}

uint32_t IdMap::Table::Get(uint64_t id) const {
  if (id < dense_.size() && dense_[id] != 0) return dense_[id];
  if (sparse_.empty()) return 0;
  const auto found = sparse_.find(id);
  return found == sparse_.end() ? 0 : found->second;
}

void IdMap::DefineString(uint32_t id, std::string_view text) {
  if (text.starts_with(kMetadataPrefix)) {
    metadata_[id] = text.substr(kMetadataPrefix.size());
    return;
  }
  strings_.Set(id, output_.writer().InternString(text));
}

void IdMap::DefineStack(uint32_t id, std::span<const uint64_t> frames) {
  trace::StackId stack = 0;
  for (const uint64_t frame : frames) stack = output_.writer().InternFrame(stack, String(frame));
  stacks_.Set(id, stack);
}

trace::StringId IdMap::String(uint64_t id) {
  if (id == 0) return 0;
  const IdMap* map = this;
  for (int i = 0; map != nullptr && i < kMaxGenerations; ++i) {
    if (const trace::StringId known = map->strings_.Get(id); known != 0) return known;
    map = id < map->first_own_string_ ? map->parent_.get() : nullptr;
  }
  ++unknown_ids_;
  return 0;
}

trace::StackId IdMap::Stack(uint64_t id) {
  if (id == 0) return 0;
  const trace::StackId known = stacks_.Get(id);
  if (known == 0) ++unknown_ids_;
  return known;
}

void IdMap::Map(trace::Event* event) {
  const trace::EventSpec& spec = trace::kEventSchema[static_cast<size_t>(event->type)];
  for (size_t i = 0; i < spec.field_count; ++i) {
    const trace::FieldKind kind = spec.fields[i].kind;
    if (kind == trace::FieldKind::kString) event->field[i] = String(event->field[i]);
    if (kind == trace::FieldKind::kStack) event->field[i] = Stack(event->field[i]);
  }
}

std::string_view IdMap::Metadata(uint64_t id) const {
  const IdMap* map = this;
  for (int i = 0; map != nullptr && i < kMaxGenerations; ++i) {
    if (const auto found = map->metadata_.find(id); found != map->metadata_.end()) return found->second;
    map = id < map->first_own_string_ ? map->parent_.get() : nullptr;
  }
  return {};
}

}  // namespace vramscope::collector
