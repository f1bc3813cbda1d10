// SPDX-License-Identifier: Apache-2.0
// Stores where blocks were allocated. A path contains the modules, operators and autograd nodes that were
// running at the allocation. The paths form a prefix tree.
//
//   root ─ module "layers.0" ─ module "layers.0.attn" ─ op aten::linear ─ op aten::addmm       forward
//        └ module "layers.0.attn" ─ node AddmmBackward0 ─ op aten::mm                          backward: the
//                                                                       module that made the node
//
// A block stores the id of its path.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/model/flat_map.h"
#include "profiler/model/ids.h"

namespace vramscope::model {

enum class ContextKind : uint8_t { kModule = 1, kOp = 2, kNode = 3, kScope = 4 };

// The names on a path (trace::StringId, 0 = unknown).
struct Birthplace {
  uint32_t module = 0;    // the innermost module
  uint32_t node = 0;      // the autograd node that ran
  uint32_t op = 0;        // outermost op inside the module or node: the program's call
  uint32_t inner_op = 0;  // innermost op: it requested the memory
  uint32_t scope = 0;     // the innermost record_function scope
};

class ContextTree {
 public:
  ContextTree() : entries_(1) {}

  // Returns the id of the path `parent` / (kind, name). Equal paths get the same id. Returns `parent` if the
  // tree already has 2^28 paths.
  ContextId Child(ContextId parent, ContextKind kind, uint32_t name);

  [[nodiscard]] size_t size() const { return entries_.size(); }
  // Both functions below are O(1).
  [[nodiscard]] const Birthplace& PlaceOf(ContextId id) const { return entries_[id].place; }
  // Returns the path up to its innermost module; 0 if the path has no module.
  [[nodiscard]] ContextId ModulePath(ContextId id) const { return entries_[id].module_path; }

 private:
  struct Entry {
    Birthplace place;
    ContextId module_path = 0;
    ContextKind kind{};  // kind of the path's last element; 0 for the root
  };

  static Entry Below(const Entry& parent, ContextKind kind, uint32_t name, ContextId id);

  std::vector<Entry> entries_;
  FlatMap children_;
};

}  // namespace vramscope::model
