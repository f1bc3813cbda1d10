// SPDX-License-Identifier: Apache-2.0
#include "profiler/plan/words.h"

#include <fmt/format.h>

#include "profiler/text/format.h"
#include "profiler/text/harmless.h"

namespace vramscope::plan {

bool IsTimed(const Verdict& verdict) {
  for (const whatif::Applied& lever : verdict.prediction.levers)
    if (!lever.outcome.time_basis.empty()) return true;
  return false;
}

std::string PlanOptions(const Changes& changes) {
  std::string options;
  for (const whatif::Asked& change : changes)
    options +=
        fmt::format("{}--{} {}", options.empty() ? "" : " ", change.lever, text::OneLine(change.value));
  return options.empty() ? "as it is" : options;
}

std::string PlanTime(const Verdict& verdict) {
  if (!IsTimed(verdict)) return verdict.rank.open ? "open" : "none";
  return fmt::format("{}{}", text::FormatDuration(static_cast<uint64_t>(verdict.rank.extra_ns)),
                     verdict.rank.open ? ", open" : "");
}

}  // namespace vramscope::plan
