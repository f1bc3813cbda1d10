// SPDX-License-Identifier: Apache-2.0
#include "profiler/model/context_tree.h"

namespace vramscope::model {
namespace {

constexpr ContextId kMaxContexts = 1u << 28;  // so that parent, kind and name make one 64-bit key

}  // namespace

ContextId ContextTree::Child(ContextId parent, ContextKind kind, uint32_t name) {
  if (entries_.size() >= kMaxContexts) return parent;
  const uint64_t key = uint64_t{parent} << 36 | uint64_t{static_cast<uint8_t>(kind)} << 32 | name;
  const auto [id, fresh] = children_.Insert(key, static_cast<uint32_t>(entries_.size()));
  if (fresh) entries_.push_back(Below(entries_[parent], kind, name, *id));
  return *id;
}

ContextTree::Entry ContextTree::Below(const Entry& parent, ContextKind kind, uint32_t name, ContextId id) {
  Entry entry = parent;
  entry.kind = kind;
  Birthplace& place = entry.place;
  if (kind == ContextKind::kOp) {
    if (parent.kind != ContextKind::kOp) place.op = name;
    if (name != 0) place.inner_op = name;
    return entry;
  }
  place.op = place.inner_op = 0;  // an op around a module call is less specific than the module
  uint32_t& own = kind == ContextKind::kModule ? place.module
                  : kind == ContextKind::kNode ? place.node
                                               : place.scope;
  if (name != 0) own = name;
  if (kind == ContextKind::kModule) entry.module_path = id;
  return entry;
}

}  // namespace vramscope::model
