// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/answer/savings.h"

#include <algorithm>
#include <set>

namespace vramscope::whatif {
namespace {

struct Question {
  const char* title;
  const char* cost;
  std::vector<Asked> asked;
};

// The most useful first: very large steps get only these questions.
const std::vector<Question>& Questions() {
  static const std::vector<Question> questions = {
      {"checkpoint=all", "blocks are computed again in backward", {{"checkpoint", "all"}}},
      {"optimizer=sgd", "another optimizer", {{"optimizer", "sgd"}}},
      {"alloc-conf=expandable_segments:True",
       "a setting of PyTorch's allocator",
       {{"alloc-conf", "expandable_segments:True"}}},
      {"checkpoint=every:2", "every second block is computed again in backward", {{"checkpoint", "every:2"}}},
      {"optimizer=momentum", "another optimizer", {{"optimizer", "momentum"}}},
      {"empty-cache=after-step",
       "the driver is asked for memory anew in each step",
       {{"empty-cache", "after-step"}}},
  };
  return questions;
}

// An allocator setting does not change the training. So it is listed even if other changes save more,
// provided that it saves a tenth.
constexpr const char* kFree = "alloc-conf";

// A question costs some 3 us per block: four steps through the allocator model.
constexpr size_t kMostBlocksAsked = 100'000;

Saving SavingOf(const Question& question, const Prediction& prediction) {
  Saving saving;
  saving.title = question.title;
  saving.cost = question.cost;
  saving.levers = question.asked.size();
  saving.allocated = prediction.after.allocator.allocated_peak;
  saving.reserved = prediction.after.allocator.reserved_peak;
  saving.phase = prediction.after.peak.phase;
  double extra_ns = 0;
  bool timed = false;
  for (const Applied& applied : prediction.levers) {
    if (!applied.outcome.code.empty()) saving.code.push_back(applied.outcome.code);
    saving.notes.insert(saving.notes.end(), applied.outcome.notes.begin(), applied.outcome.notes.end());
    extra_ns += applied.outcome.extra_ns;
    timed |= !applied.outcome.time_basis.empty();
  }
  if (timed) saving.extra_ns = static_cast<uint64_t>(extra_ns);
  return saving;
}

// True if a change saves at least 1 % of reserved memory and increases neither peak.
bool Saves(const Saving& saving, const Savings& before) {
  return saving.levers == 1 && saving.reserved + before.reserved / 100 < before.reserved &&
         saving.allocated <= before.allocated;
}

std::string LeverOf(const Saving& saving) { return saving.title.substr(0, saving.title.find('=')); }

bool Better(const Saving& a, const Saving& b) {
  return a.reserved != b.reserved ? a.reserved < b.reserved : a.allocated < b.allocated;
}

}  // namespace

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
  std::stable_sort(best.begin(), best.end(), [](const Saving* a, const Saving* b) { return Better(*a, *b); });
  return best;
}

std::optional<Savings> FindSavings(const classify::Analysis& analysis, model::DeviceIndex device,
                                   const RerunsOf& reruns) {
  if (trace::DeviceTypeOf(analysis.run().devices[device].code) == 0) return std::nullopt;
  const Result<Step> step = ReadStep(analysis, device);
  if (!step.ok() || step->blocks.size() > kMostBlocksAsked) return std::nullopt;
  const Result<Baseline> baseline = MakeBaseline(*step, analysis);
  if (!baseline.ok()) return std::nullopt;
  const Replayed& before = baseline->use.allocator;
  Savings savings{step->number, before.allocated_peak, before.reserved_peak, {}, {}};
  const size_t most = kMostBlocksAsked / std::max<size_t>(step->blocks.size(), 1);
  for (const Question& question : Questions()) {
    if (static_cast<size_t>(&question - Questions().data()) >= most) break;
    const Result<Prediction> prediction = Predict(*step, *baseline, question.asked);
    if (!prediction.ok() || !prediction->refused.empty()) continue;
    const Replayed& after = prediction->after.allocator;
    if (after.allocated_peak == before.allocated_peak && after.reserved_peak == before.reserved_peak)
      continue;
    savings.cases.push_back(SavingOf(question, *prediction));
  }
  if (reruns) savings.reruns = reruns(*baseline);
  std::stable_sort(savings.cases.begin(), savings.cases.end(), Better);
  std::stable_sort(savings.reruns.begin(), savings.reruns.end(), Better);
  return savings;
}

}  // namespace vramscope::whatif
