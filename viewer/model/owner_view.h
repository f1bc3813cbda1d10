// SPDX-License-Identifier: Apache-2.0
// Shows the owners of the live blocks at a moment as a flame graph or a treemap.
//
// Both consist of rectangles with parents. Nodes smaller than a pixel have no rectangle. The zoomed node is
// stored as a path of names, so the zoom stays when the moment changes.
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
  size_t parent = 0;  // index in the same list; the first box is its own parent
};

// Returns the boxes of a flame graph. Rows are `row` high and start at the top. The width of a child is its
// share of the parent's bytes.
[[nodiscard]] std::vector<OwnerBox> LayOutFlame(const OwnerNode& root, float width, float height, float row);
// Returns the boxes of a treemap. Children fill their parent below its title (`title` high), in nearly square
// rectangles. A parent without space for a title has no boxes for its children.
[[nodiscard]] std::vector<OwnerBox> LayOutTreemap(const OwnerNode& root, float width, float height,
                                                  float title, float gap);

class OwnerView {
 public:
  // Builds the tree for this moment, if an argument has changed.
  void Update(const Document& document, const DeviceView& device, model::EventIndex moment);
  [[nodiscard]] const OwnerNode& tree() const { return tree_; }
  [[nodiscard]] bool known() const { return report::IsKnown(tree_); }

  // Returns the zoomed node. If that node does not exist at this moment, returns the deepest existing node on
  // its path.
  [[nodiscard]] const OwnerNode& shown() const;
  [[nodiscard]] const std::vector<std::string>& zoom() const { return zoom_; }
  // Zooms in to a box. `boxes` must be a layout of shown(). Not for boxes of merged nodes such as "7
  // smaller".
  void ZoomTo(const std::vector<OwnerBox>& boxes, size_t box);
  // Drops all references to the run. Call before its document is destroyed.
  void Clear() { *this = {}; }
  // Zooms out to the first `depth` names of the path; 0 shows everything.
  void ZoomOut(size_t depth);

  OwnersBy by = OwnersBy::kModule;
  bool chosen = false;  // true if the user chose `by`; otherwise kStack is chosen if few categories are known
  bool treemap = false;

 private:
  const Document* document_ = nullptr;
  const DeviceView* device_ = nullptr;
  model::EventIndex moment_ = model::kNever;
  OwnersBy made_by_ = OwnersBy::kModule;
  std::unique_ptr<classify::Origins> origins_;
  OwnerNode tree_;
  std::vector<std::string> zoom_;
  bool by_itself_ = false;  // true if kStack was chosen automatically
};

}  // namespace vramscope::viewer
