// SPDX-License-Identifier: Apache-2.0
// The owners of the live blocks at the moment, laid out as a flame graph or as a treemap.
//
// Both are rectangles with a parent; nodes smaller than a pixel get none. The node that the view is zoomed
// into is identified by its path, so that it stays when the moment moves.
//
//   flame graph                        treemap
//   all                                ┌ all ──────────────────┐
//   layers                   │ head    │┌ layers ──────┐┌ head┐│
//   0      │ 1      │ 2                ││  0   │  1    ││     ││
//                                      │└──────────────┘└─────┘│
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "profiler/report/owner_tree.h"
#include "viewer/model/document.h"

namespace vramscope::viewer {

using report::OwnerNode;
using report::OwnersBy;

struct OwnerBox {
  float x = 0, y = 0, width = 0, height = 0;  // within the picture
  const OwnerNode* node = nullptr;
  size_t parent = 0;  // index in the same list; the first one is its own parent
};

// Rows from the top, `row` high each; a child is as wide as its share of its parent.
[[nodiscard]] std::vector<OwnerBox> LayOutFlame(const OwnerNode& root, float width, float height, float row);
// Children fill their parent below its title, which is `title` high, in rectangles as square as possible. A
// parent without room for a title has no children.
[[nodiscard]] std::vector<OwnerBox> LayOutTreemap(const OwnerNode& root, float width, float height,
                                                  float title, float gap);

class OwnerView {
 public:
  // The tree of that moment; recomputed only if something changed.
  void Update(const Document& document, const DeviceView& device, model::EventIndex moment);
  [[nodiscard]] const OwnerNode& tree() const { return tree_; }
  [[nodiscard]] bool known() const { return report::IsKnown(tree_); }

  // The node that the view is zoomed into, or the deepest existing node on the path to it.
  [[nodiscard]] const OwnerNode& shown() const;
  [[nodiscard]] const std::vector<std::string>& zoom() const { return zoom_; }
  // Zooms in to a box of a layout of shown(). A box such as "7 smaller" cannot be zoomed into.
  void ZoomTo(const std::vector<OwnerBox>& boxes, size_t box);
  // Forgets the run; call before its document is destroyed.
  void Clear() { *this = {}; }
  // Zooms out to the first `depth` names of the path; 0 = all.
  void ZoomOut(size_t depth);

  OwnersBy by = OwnersBy::kModule;
  bool chosen = false;  // the user chose `by`; else it is kStack if few categories are known
  bool treemap = false;

 private:
  const Document* document_ = nullptr;
  const DeviceView* device_ = nullptr;
  model::EventIndex moment_ = model::kNever;
  OwnersBy made_by_ = OwnersBy::kModule;
  std::unique_ptr<classify::Origins> origins_;
  OwnerNode tree_;
  std::vector<std::string> zoom_;
  bool by_itself_ = false;  // `by` was not the user's choice
};

}  // namespace vramscope::viewer
