// SPDX-License-Identifier: Apache-2.0
// Where in the program a block was born: the modules, ops and autograd nodes that were open, as paths in a
// prefix tree.
//
//   root ─ module "layers.0" ─ module "layers.0.attn" ─ op aten::linear ─ op aten::addmm       forward
//        └ module "layers.0.attn" ─ node AddmmBackward0 ─ op aten::mm                          backward: the
//                                                                       module that made the node
//
// Why a tree: a step repeats the same few thousand paths, so a block carries one number, and flame graphs are
// a fold over the tree.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/model/flat_map.h"
#include "profiler/model/ids.h"

namespace vramscope::model {

enum class ContextKind : uint8_t { kModule = 1, kOp = 2, kNode = 3, kScope = 4 };

// What a path says, as names (trace::StringId, 0 = not known).
struct Birthplace {
  uint32_t module = 0;    // the innermost module
  uint32_t node = 0;      // the autograd node that ran
  uint32_t op = 0;        // the outermost op inside those: what the program called
  uint32_t inner_op = 0;  // the innermost op: what asked for the memory
  uint32_t scope = 0;     // the innermost record_function scope
};

class ContextTree {
 public:
  ContextTree() : entries_(1) {}

  // The path `parent` / (kind, name); always the same id. A tree of more than 2^28 paths answers with
  // `parent`.
  ContextId Child(ContextId parent, ContextKind kind, uint32_t name);

  [[nodiscard]] size_t size() const { return entries_.size(); }
  // The following follow from the path above when it gets its id: a file may nest a million deep.
  [[nodiscard]] const Birthplace& PlaceOf(ContextId id) const { return entries_[id].place; }
  // The nearest path upwards that ends in a module (the path itself may); 0 = none.
  [[nodiscard]] ContextId ModulePath(ContextId id) const { return entries_[id].module_path; }

 private:
  struct Entry {
    Birthplace place;
    ContextId module_path = 0;
    ContextKind kind{};  // of its end; 0 for the root
  };

  static Entry Below(const Entry& parent, ContextKind kind, uint32_t name, ContextId id);

  std::vector<Entry> entries_;
  FlatMap children_;
};

}  // namespace vramscope::model
