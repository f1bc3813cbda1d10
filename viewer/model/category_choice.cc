// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/category_choice.h"

#include <utility>

namespace vramscope::viewer {

using classify::CategoryMask;
using classify::MemorySeries;

void CategoryChoice::Ask(const MemorySeries& series, CategoryMask categories,
                         const std::function<void()>& wake) {
  asked_ = categories & classify::kAllCategories;
  if (busy()) return;  // Update counts these after the running count
  counting_.Start(wake, [&series, categories = asked_] { return series.Count(categories); });
}

void CategoryChoice::Update(MemorySeries& series, const std::function<void()>& wake) {
  std::optional<MemorySeries::Choice> choice = counting_.Take();
  if (!choice) return;
  if (choice->categories != asked_) return Ask(series, asked_, wake);
  series.Show(std::move(*choice));
}

}  // namespace vramscope::viewer
