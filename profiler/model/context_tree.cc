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
  if (fresh) entries_.push_back({parent, name, kind});
  return *id;
}

ContextId ContextTree::ModulePath(ContextId id) const {
  while (id != 0 && entries_[id].kind != ContextKind::kModule) id = entries_[id].parent;
  return id;
}

Birthplace Describe(const ContextTree& tree, ContextId id) {
  Birthplace place;
  for (bool ops_end = false; id != 0; id = tree[id].parent) {
    const ContextTree::Entry& entry = tree[id];
    switch (entry.kind) {
      case ContextKind::kOp:
        if (ops_end) break;  // an op around a module call says less than the module
        if (place.inner_op == 0) place.inner_op = entry.name;
        place.op = entry.name;
        break;
      case ContextKind::kModule:
        ops_end = true;
        if (place.module == 0) place.module = entry.name;
        break;
      case ContextKind::kNode:
        ops_end = true;
        if (place.node == 0) place.node = entry.name;
        break;
      case ContextKind::kScope:
        ops_end = true;
        if (place.scope == 0) place.scope = entry.name;
        break;
    }
  }
  return place;
}

}  // namespace vramscope::model
