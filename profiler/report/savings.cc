// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/savings.h"

#include <algorithm>
#include <set>

namespace vramscope::report {
namespace {

// An allocator setting, which does not affect the training. So if it saves a tenth, it is suggested even
// where other changes save more.
constexpr const char* kFree = "alloc-conf";

// True for a single change that saves at least 1 % of reserved memory and does not increase allocated memory.
bool Saves(const Saving& saving, const Savings& before) {
  return saving.levers == 1 && saving.reserved + before.reserved / 100 < before.reserved &&
         saving.allocated <= before.allocated;
}

std::string LeverOf(const Saving& saving) { return saving.title.substr(0, saving.title.find('=')); }

}  // namespace

bool TakesLess(const Saving& a, const Saving& b) {
  return a.reserved != b.reserved ? a.reserved < b.reserved : a.allocated < b.allocated;
}

std::vector<const Saving*> Savings::Worthwhile(size_t most) const {
  std::vector<const Saving*> best;
  std::set<std::string> levers;
  for (const Saving& saving : cases) {
    if (!Saves(saving, *this) || !levers.insert(LeverOf(saving)).second) continue;
    if (best.size() < most) {
      best.push_back(&saving);
    } else if (LeverOf(saving) == kFree && most > 1 && saving.reserved + reserved / 10 <= reserved) {
      best.back() = &saving;
    }
  }
  return best;
}

std::vector<const Saving*> Savings::Advised(size_t most) const {
  std::vector<const Saving*> best = Worthwhile(most);
  const size_t all = best.size() + most;
  std::set<std::string> levers;
  for (const Saving& saving : reruns) {
    if (best.size() < all && Saves(saving, *this) && levers.insert(LeverOf(saving)).second)
      best.push_back(&saving);
  }
  std::stable_sort(best.begin(), best.end(),
                   [](const Saving* a, const Saving* b) { return TakesLess(*a, *b); });
  return best;
}

}  // namespace vramscope::report
