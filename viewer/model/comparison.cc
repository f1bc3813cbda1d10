// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/comparison.h"

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
  comparison_.Update({&before, &after}, wake, [&before, &after] { return Make(before, after); });
}

}  // namespace vramscope::viewer
