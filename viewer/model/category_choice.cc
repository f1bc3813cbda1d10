// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/category_choice.h"

#include <chrono>
#include <utility>

namespace vramscope::viewer {

using classify::CategoryMask;
using classify::MemorySeries;

void CategoryChoice::Ask(const MemorySeries& series, CategoryMask categories,
                         const std::function<void()>& wake) {
  asked_ = categories & classify::kAllCategories;
  if (busy()) return;  // Update counts these after the running count
  counted_ = std::async(std::launch::async, [&series, categories = asked_, wake] {
    auto choice = series.Count(categories);
    wake();
    return choice;
  });
}

void CategoryChoice::Update(MemorySeries& series, const std::function<void()>& wake) {
  if (!busy() || counted_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return;
  MemorySeries::Choice choice = counted_.get();
  if (choice.categories != asked_) return Ask(series, asked_, wake);
  series.Show(std::move(choice));
}

}  // namespace vramscope::viewer
