// SPDX-License-Identifier: Apache-2.0
// The owners of the live blocks at a moment, as a flame graph or treemap.
//
// Both consist of rectangles, each with a parent. Nodes smaller than a pixel have no rectangle. The
// zoomed node is identified by its path, so it stays when the moment moves.
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
  size_t parent = 0;  // in the same list; the first is its own parent
};

// Rows from the top, `row` high. A child is as wide as its share.
[[nodiscard]] std::vector<OwnerBox> LayOutFlame(const OwnerNode& root, float width, float height, float row);
// Children fill their parent below its title (`title` high), in nearly square rectangles. Without room for a
// title, there are no children.
[[nodiscard]] std::vector<OwnerBox> LayOutTreemap(const OwnerNode& root, float width, float height,
                                                  float title, float gap);

class OwnerView {
 public:
  // The tree of that moment.
  void Update(const Document& document, const DeviceView& device, model::EventIndex moment);
  [[nodiscard]] const OwnerNode& tree() const { return tree_; }
  [[nodiscard]] bool known() const { return report::IsKnown(tree_); }

  // The zoomed node, or the deepest existing node on its path.
  [[nodiscard]] const OwnerNode& shown() const;
  [[nodiscard]] const std::vector<std::string>& zoom() const { return zoom_; }
  // Zooms in to a box of a layout of shown(). Not for boxes such as "7 smaller".
  void ZoomTo(const std::vector<OwnerBox>& boxes, size_t box);
  // Forgets the run; call before its document is destroyed.
  void Clear() { *this = {}; }
  // Zooms out to the path's first `depth` names; 0 = all.
  void ZoomOut(size_t depth);

  OwnersBy by = OwnersBy::kModule;
  bool chosen = false;  // the user chose `by`; else kStack if few categories are known
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
