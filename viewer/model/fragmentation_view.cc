// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/fragmentation_view.h"

namespace vramscope::viewer {
namespace {

constexpr size_t kMostSegments = 200;
constexpr size_t kMostPins = 3;

}  // namespace

void FragmentationView::Update(const LayoutView& layout, fragmentation::Moment moment) {
  if (layout_ == &layout && moment_ == moment) return;
  if (layout_ != &layout) cursor_ = std::make_unique<fragmentation::LayoutCursor>(*layout.walk);
  layout_ = &layout;
  moment_ = moment;
  const fragmentation::Layout& state = cursor_->Seek(moment);
  answer_ = fragmentation::AnswerFor(layout.subject, state, moment, "");
  segments_ = fragmentation::SegmentsOf(layout.subject, state, moment, kMostSegments, kMostPins);
}

void AutopsyView::Update(const LayoutView& layout, const std::function<void()>& wake) {
  autopsy_.Update(&layout, wake,
                  [&layout] { return fragmentation::Examine(layout.subject, *layout.walk, 0); });
}

}  // namespace vramscope::viewer
