// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/owner_view.h"

#include <algorithm>

#include "viewer/model/line_bands.h"

namespace vramscope::viewer {
namespace {

constexpr float kLeastWidth = 1;       // pixels
constexpr float kLeastArea = 12;       // of a box in a treemap
constexpr size_t kMostBoxes = 20'000;  // a frame draws each of them

float Share(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<float>(static_cast<double>(part) / static_cast<double>(whole));
}

// The worst aspect ratio of rectangles along a side of length `side`, given the sum, minimum and maximum of
// their areas.
float Worst(float sum, float least, float largest, float side) {
  const float thickness = sum / side;
  return std::max(largest / (thickness * thickness), thickness * thickness / least);
}

// Squarified treemap (Bruls, Huizing, van Wijk, 2000): rows along the shorter side, each extended as long as
// its rectangles become squarer.
class Squarer {
 public:
  Squarer(std::vector<OwnerBox>& boxes, float title, float gap) : boxes_(boxes), title_(title), gap_(gap) {}

  void Fill(size_t parent) {
    const OwnerBox box = boxes_[parent];
    float x = box.x + gap_;
    float y = box.y + title_;
    float width = box.width - 2 * gap_;
    float height = box.height - title_ - gap_;
    if (width < 3 * gap_ || height < 3 * gap_ || box.node->bytes == 0) return;
    const float scale = width * height / static_cast<float>(box.node->bytes);
    const std::vector<OwnerNode>& children = box.node->children;
    const auto area = [&](size_t i) { return static_cast<float>(children[i].bytes) * scale; };
    const size_t first_box = boxes_.size();
    for (size_t begin = 0; begin < children.size() && area(begin) >= kLeastArea;) {
      const float side = std::min(width, height);
      float sum = area(begin);
      size_t end = begin + 1;
      float worst = Worst(sum, sum, sum, side);
      for (; end < children.size() && area(end) >= kLeastArea; ++end) {
        const float with = Worst(sum + area(end), area(end), area(begin), side);
        if (with > worst) break;
        worst = with;
        sum += area(end);
      }
      const float thickness = sum / side;
      float along = 0;
      for (size_t i = begin; i < end; ++i) {
        const float length = area(i) / thickness;
        if (boxes_.size() >= kMostBoxes) return;
        if (width >= height)
          boxes_.push_back({x, y + along, thickness, length, &children[i], parent});
        else
          boxes_.push_back({x + along, y, length, thickness, &children[i], parent});
        along += length;
      }
      (width >= height ? x : y) += thickness;
      (width >= height ? width : height) -= thickness;
      begin = end;
    }
    for (size_t i = first_box, last = boxes_.size(); i < last; ++i) Fill(i);
  }

 private:
  std::vector<OwnerBox>& boxes_;
  float title_;
  float gap_;
};

}  // namespace

std::vector<OwnerBox> LayOutFlame(const OwnerNode& root, float width, float height, float row) {
  std::vector<OwnerBox> boxes = {{0, 0, width, row, &root, 0}};
  for (size_t i = 0; i < boxes.size() && boxes.size() < kMostBoxes; ++i) {
    const OwnerBox parent = boxes[i];
    float x = parent.x;
    if (parent.y + 2 * row > height) continue;
    for (const OwnerNode& child : parent.node->children) {
      const float wide = parent.width * Share(child.bytes, parent.node->bytes);
      if (wide < kLeastWidth) break;  // the largest come first
      boxes.push_back({x, parent.y + row, wide, row, &child, i});
      x += wide;
    }
  }
  return boxes;
}

std::vector<OwnerBox> LayOutTreemap(const OwnerNode& root, float width, float height, float title,
                                    float gap) {
  std::vector<OwnerBox> boxes = {{0, 0, width, height, &root, 0}};
  Squarer(boxes, title, gap).Fill(0);
  return boxes;
}

void OwnerView::Update(const Document& document, const DeviceView& device, model::EventIndex moment) {
  const bool same_file = document_ == &document && device_ == &device;
  if (!same_file && !chosen && (by == OwnersBy::kModule || by_itself_)) {
    by_itself_ = LinesTellMore(document, device);
    by = by_itself_ ? OwnersBy::kStack : OwnersBy::kModule;
  }
  if (same_file && moment_ == moment && made_by_ == by) return;
  if (document_ != &document)
    origins_ = std::make_unique<classify::Origins>(*document.run, document.analysis->training());
  if (!same_file || made_by_ != by) zoom_.clear();
  document_ = &document;
  device_ = &device;
  moment_ = moment;
  made_by_ = by;
  tree_ = report::MakeOwnerTree(*document.analysis, *origins_, device.live.At(moment), moment, by);
}

const OwnerNode& OwnerView::shown() const {
  const OwnerNode* node = &tree_;
  for (const std::string& name : zoom_) {
    const auto child = std::find_if(node->children.begin(), node->children.end(),
                                    [&](const OwnerNode& each) { return each.name == name; });
    if (child == node->children.end()) break;
    node = &*child;
  }
  return *node;
}

void OwnerView::ZoomTo(const std::vector<OwnerBox>& boxes, size_t box) {
  std::vector<std::string> further;
  for (; box != 0; box = boxes[box].parent) further.push_back(boxes[box].node->name);
  if (further.empty()) return;
  // If the whole path does not exist at this moment, continues from shown().
  const OwnerNode* node = &tree_;
  size_t there = 0;
  for (; there < zoom_.size(); ++there) {
    const auto child = std::find_if(node->children.begin(), node->children.end(),
                                    [&](const OwnerNode& each) { return each.name == zoom_[there]; });
    if (child == node->children.end()) break;
    node = &*child;
  }
  zoom_.resize(there);
  zoom_.insert(zoom_.end(), further.rbegin(), further.rend());
}

void OwnerView::ZoomOut(size_t depth) { zoom_.resize(std::min(depth, zoom_.size())); }

}  // namespace vramscope::viewer
