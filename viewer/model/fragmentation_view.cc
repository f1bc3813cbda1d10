// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/fragmentation_view.h"

#include <chrono>

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
  if (layout_ != &layout) {
    if (running_.valid()) running_.wait();  // it reads the layout that it was given
    layout_ = &layout;
    autopsy_.reset();
    running_ = std::async(std::launch::async, [&layout, wake] {
      auto result = fragmentation::Examine(layout.subject, *layout.walk, 0);
      wake();
      return result;
    });
  }
  if (!running_.valid() || running_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return;
  autopsy_.emplace(running_.get());
}

}  // namespace vramscope::viewer
