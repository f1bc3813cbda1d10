// SPDX-License-Identifier: Apache-2.0
#include "profiler/plan/largest_batch.h"

#include <algorithm>

#include "profiler/whatif/sizes/sample_turns.h"

namespace vramscope::plan {
namespace {

constexpr uint64_t kLargest = uint64_t{1} << 24;

class BatchSearch {
 public:
  BatchSearch(Judge& judge, uint64_t limit, uint64_t recorded)
      : judge_(judge), limit_(limit), recorded_(recorded) {}

  LargestBatch With(const Changes& others) {
    uint64_t fits = 0, too_large = 0;
    const Verdict* best = nullptr;
    const auto try_size = [&](uint64_t size) {
      const Verdict& verdict = Of(others, size);
      if (!verdict.replayed || verdict.needed > limit_) {
        too_large = size;
        return;
      }
      best = &verdict;
      fits = size;
    };
    for (uint64_t size = recorded_; too_large == 0 && size <= kLargest && !judge_.exhausted(); size *= 2)
      try_size(size);
    while (too_large > fits + 1 && !judge_.exhausted()) try_size(fits + (too_large - fits) / 2);
    return {others, fits, best == nullptr ? Verdict{} : *best};
  }

 private:
  const Verdict& Of(const Changes& others, uint64_t size) {
    Changes changes = others;
    changes.push_back({"batch", std::to_string(size)});
    return judge_.Of(changes, limit_);
  }

  Judge& judge_;
  uint64_t limit_;
  uint64_t recorded_;
};

std::vector<whatif::Asked> Singles(const whatif::Step& step, const std::vector<std::string>& levers) {
  std::vector<whatif::Asked> singles;
  for (const char* lever : {"alloc-conf", "optimizer", "checkpoint", "amp"}) {
    if (std::find(levers.begin(), levers.end(), lever) == levers.end()) continue;
    std::vector<std::string> values = whatif::FindLever(lever)->Settings(step);
    if (lever == std::string_view("checkpoint") && !values.empty()) values = {values.back()};  // all
    for (const std::string& value : values) singles.push_back({lever, value});
  }
  return singles;
}

}  // namespace

Result<LargestBatches> FindLargestBatches(const whatif::Step& step, const whatif::Baseline& baseline,
                                          const Request& request) {
  const Result<const whatif::BatchAxis*> axis = whatif::BatchToScale(step);
  if (!axis.ok()) return axis.error();
  whatif::Predictor predictor(step, baseline);
  Judge judge(predictor, request.work);
  LargestBatches found;
  found.recorded = static_cast<uint64_t>((*axis)->batch);
  BatchSearch search(judge, request.limit, found.recorded);
  std::vector<LargestBatch> rows = {search.With({})};
  const std::vector<whatif::Asked> singles = Singles(step, request.levers);
  for (const whatif::Asked& single : singles) rows.push_back(search.With({single}));
  for (bool better = true; better;) {
    better = false;
    const LargestBatch best =
        *std::max_element(rows.begin(), rows.end(),
                          [](const LargestBatch& a, const LargestBatch& b) { return a.size < b.size; });
    for (const whatif::Asked& single : singles) {
      const bool there =
          std::any_of(best.others.begin(), best.others.end(),
                      [&](const whatif::Asked& change) { return change.lever == single.lever; });
      if (there || judge.exhausted()) continue;
      Changes others = best.others;
      others.push_back(single);
      rows.push_back(search.With(others));
      better |= rows.back().size > best.size;
    }
  }
  // A smaller batch takes more steps for the same samples; here it is what is asked for, so its time is left
  // out.
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
