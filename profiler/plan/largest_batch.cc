// SPDX-License-Identifier: Apache-2.0
#include "profiler/plan/largest_batch.h"

#include <algorithm>
#include <utility>

#include "profiler/plan/rerun_plans.h"

namespace vramscope::plan {
namespace {

constexpr uint64_t kLargest = uint64_t{1} << 24;

class BatchSearch {
 public:
  BatchSearch(const whatif::Step& step, Reruns& reruns, uint64_t limit, uint64_t recorded)
      : step_(step), reruns_(reruns), limit_(limit), recorded_(recorded) {}

  LargestBatch With(const Changes& others) {
    LargestBatch found{others, 0, {}};
    uint64_t too_large = 0;
    const auto try_size = [&](uint64_t size) {
      Verdict verdict = Of(others, size);
      if (!verdict.replayed || verdict.needed > limit_) {
        too_large = size;
        return;
      }
      found.verdict = std::move(verdict);
      found.size = size;
    };
    for (uint64_t size = recorded_; too_large == 0 && size <= kLargest; size *= 2) try_size(size);
    while (too_large > found.size + 1) try_size(found.size + (too_large - found.size) / 2);
    return found;
  }

 private:
  Verdict Of(Changes changes, uint64_t size) {
    changes.push_back({"batch", std::to_string(size)});
    return RerunVerdict(step_, reruns_, std::move(changes));
  }

  const whatif::Step& step_;
  Reruns& reruns_;
  uint64_t limit_;
  uint64_t recorded_;
};

std::vector<whatif::Asked> Singles(const whatif::Step& step, const std::vector<std::string>& levers) {
  std::vector<whatif::Asked> singles;
  for (const char* lever : {"alloc-conf", "checkpoint"}) {
    if (!Allowed(levers, lever)) continue;
    const std::vector<std::string> values = whatif::FindLever(lever)->Settings(step);
    if (!values.empty()) singles.push_back({lever, values.back()});
  }
  return singles;
}

}  // namespace

Result<LargestBatches> FindLargestBatches(const whatif::Step& step, const Request& request, Reruns* reruns) {
  if (reruns == nullptr)
    return Error{
        "the largest batch needs re-runs of the recorded program, and re-runs need PyTorch. `vramscope "
        "dryrun --batch 1..64 -- CMD` finds the largest batch with the program itself."};
  LargestBatches found;
  found.recorded = VRAMSCOPE_TRY(reruns->BatchSize());
  BatchSearch search(step, *reruns, request.limit, found.recorded);
  std::vector<LargestBatch> rows = {search.With({})};
  Changes all;
  for (const whatif::Asked& single : Singles(step, request.levers)) {
    rows.push_back(search.With({single}));
    all.push_back(single);
  }
  if (all.size() > 1) rows.push_back(search.With(all));
  // A smaller batch takes more steps for the same samples. The rows differ in their batch on purpose, so that
  // time is left out.
  const auto rank_of = [&](const LargestBatch& row) {
    double ns = 0;
    for (const whatif::Applied& lever : row.verdict.prediction.levers)
      ns += lever.asked.lever == "batch" ? 0 : lever.outcome.extra_ns;
    return RankOf(step, row.others, ns);
  };
  std::stable_sort(rows.begin() + 1, rows.end(),
                   [&](const LargestBatch& a, const LargestBatch& b) { return rank_of(a) < rank_of(b); });
  for (LargestBatch& row : rows) {
    if (found.rows.empty() || row.size > found.rows.back().size) found.rows.push_back(std::move(row));
  }
  return found;
}

}  // namespace vramscope::plan
