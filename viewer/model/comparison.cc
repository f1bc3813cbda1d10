// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/comparison.h"

#include <chrono>
#include <utility>

namespace vramscope::viewer {

void ComparedFiles::Follow(size_t shown, size_t files) {
  if (shown != shown_ && shown_ != SIZE_MAX && shown != before) after = shown;
  shown_ = shown;
  if (before >= files) before = 0;
  if (after >= files || after == before) after = before == 0 ? 1 : 0;
}

namespace {

Result<Comparison> Make(const Document& before, const Document& after) {
  auto first = VRAMSCOPE_TRY(diff::SideOf(before.path, *before.analysis, {}));
  auto second = VRAMSCOPE_TRY(diff::SideOf(after.path, *after.analysis, {}));
  for (const diff::Side* side : {&first, &second}) {
    VRAMSCOPE_TRY(diff::IsComparable(*side));
  }
  diff::Diff diff = diff::Compare(first, second);
  return Comparison{std::move(first), std::move(second), std::move(diff)};
}

}  // namespace

void ComparisonView::Update(const Document& before, const Document& after,
                            const std::function<void()>& wake) {
  if (before_ != &before || after_ != &after) {
    if (running_.valid()) running_.wait();  // it reads the documents that it was given
    before_ = &before;
    after_ = &after;
    comparison_.reset();
    running_ = std::async(std::launch::async, [&before, &after, wake] {
      auto made = Make(before, after);
      wake();
      return made;
    });
  }
  if (!running_.valid() || running_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return;
  comparison_.emplace(running_.get());
}

}  // namespace vramscope::viewer
