// SPDX-License-Identifier: Apache-2.0
#include "profiler/fragmentation/autopsy.h"

#include <algorithm>
#include <map>
#include <utility>

#include "profiler/fragmentation/autopsy_words.h"
#include "profiler/fragmentation/model_words.h"

namespace vramscope::fragmentation {
namespace {

using allocator::kDefaultPool;

constexpr size_t kBlockers = 5;
constexpr size_t kPins = 5;
constexpr size_t kHolders = 12;

// Classifies the free bytes of a layout from the point of view of one request.
FreeBytes Sort(const Layout& layout, const Failure& failure, bool large) {
  FreeBytes free;
  for (const auto& [address, index] : layout.segments()) {
    const Segment& segment = layout.segment(index);
    const Domain& domain = layout.DomainOf(segment);
    const bool same = domain.pool == failure.pool && domain.stream == failure.stream && domain.large == large;
    for (BlockIndex at = segment.first; at != kNoIndex; at = layout.block(at).next) {
      const Block& block = layout.block(at);
      if (block.use == allocator::BlockUse::kPendingFree) free.pending += block.bytes;
      if (!block.free()) continue;
      if (same) {
        free.same_domain += block.bytes;
        free.largest_block = std::max(free.largest_block, block.bytes);
        continue;
      }
      const uint64_t whole = domain.pool == kDefaultPool ? layout.WholeBytes(block) : 0;
      free.releasable += whole;
      uint64_t& rest = domain.pool != failure.pool       ? free.other_pool
                       : domain.stream != failure.stream ? free.other_stream
                                                         : free.other_size_class;
      rest += block.bytes - whole;
    }
  }
  return free;
}

// Completely free memory of the default pool, including the request's own domain.
uint64_t ReturnedByEmptyCache(const Layout& layout) {
  uint64_t bytes = 0;
  for (const Domain& domain : layout.domains()) bytes += domain.pool == kDefaultPool ? domain.whole : 0;
  return bytes;
}

std::vector<SegmentAnswer> Blockers(const Subject& subject, const Layout& layout, const Failure& failure,
                                    bool large) {
  std::vector<SegmentAnswer> all;
  for (SegmentAnswer& answer : SegmentsOf(subject, layout, failure.moment, 0, kPins)) {
    const bool same = answer.domain.pool == failure.pool && answer.domain.stream == failure.stream &&
                      answer.domain.large == large;
    if (same && all.size() < kBlockers) all.push_back(std::move(answer));
  }
  return all;
}

std::vector<Holder> Holders(const Subject& subject, const Layout& layout, Moment moment) {
  std::map<std::pair<std::string, std::string>, Holder> groups;
  for (const auto& [address, index] : layout.segments()) {
    for (BlockIndex at = layout.segment(index).first; at != kNoIndex; at = layout.block(at).next) {
      const Block& block = layout.block(at);
      if (block.free()) continue;
      const BlockText text = subject.describe(block, moment);
      Holder& holder = groups[{text.category, GroupTitle(text)}];
      holder.title = GroupTitle(text);
      holder.category = text.category;
      holder.bytes += block.bytes;
      ++holder.blocks;
    }
  }
  std::vector<Holder> all;
  for (auto& [key, holder] : groups) all.push_back(std::move(holder));
  std::stable_sort(all.begin(), all.end(),
                   [](const Holder& a, const Holder& b) { return a.bytes > b.bytes; });
  if (all.size() > kHolders) all.resize(kHolders);
  return all;
}

class Examination {
 public:
  Examination(const Subject& subject, const LayoutWalk& walk) : subject_(subject), walk_(walk) {}

  Autopsy OfFailure(size_t number) {
    autopsy_.number = number;
    autopsy_.failures = subject_.failures.size();
    const Failure& failure = autopsy_.failure.emplace(subject_.failures[number - 1]);
    const Rules& rules = subject_.rules;
    autopsy_.rounded = failure.rounded ? failure.requested : rules.Rounded(failure.requested);
    autopsy_.segment_bytes = rules.SegmentBytes(autopsy_.rounded);
    autopsy_.program = subject_.circumstances(number - 1);
    if (subject_.has_layout) {
      const Layout layout = walk_.At(failure.moment);
      LookAt(layout, failure);
      Try(failure, layout.Total().reserved);
      Judge();
      autopsy_.steps_more =
          autopsy_.program.StepsMore(layout.Total().reserved + autopsy_.free.driver.value_or(0));
    } else {
      JudgeByTotals(failure);
    }
    JudgeProgram();
    AddWords(subject_, autopsy_);
    return std::move(autopsy_);
  }

  Autopsy OfEnd() {
    if (subject_.has_layout) {
      const Layout layout = walk_.At(walk_.end());
      Failure nobody;
      nobody.moment = walk_.end();
      nobody.stream = MainStream(layout);
      LookAt(layout, nobody);
    }
    AddWords(subject_, autopsy_);
    return std::move(autopsy_);
  }

 private:
  void LookAt(const Layout& layout, const Failure& failure) {
    const bool large = !autopsy_.failure.has_value() || subject_.rules.IsLargeRequest(autopsy_.rounded);
    autopsy_.state =
        AnswerFor(subject_, layout, failure.moment, autopsy_.failure.has_value() ? "oom" : "end");
    if (failure.driver_free.has_value()) {
      autopsy_.state->driver_free = failure.driver_free;
      autopsy_.state->largest_requests = LargestRequests(layout, failure.driver_free);
    }
    autopsy_.free = Sort(layout, failure, large);
    autopsy_.returned = ReturnedByEmptyCache(layout);
    autopsy_.free.driver = autopsy_.state->driver_free;
    autopsy_.blockers = Blockers(subject_, layout, failure, large);
    autopsy_.holders = Holders(subject_, layout, failure.moment);
  }

  void Try(const Failure& failure, uint64_t reserved) {
    const allocator::History& history = subject_.history;
    const bool replayable = history.complete || history.has_segments;
    const bool at_event = failure.moment < history.events.size() &&
                          history.events[failure.moment].action == allocator::Action::kOutOfMemory;
    if (!autopsy_.free.driver.has_value() || !replayable || !at_event) return;
    const uint64_t room = reserved + *autopsy_.free.driver;
    const Result<Trial> control = TrySettings(history, failure.moment, room, history.settings);
    if (!control.ok()) {
      autopsy_.unknown.push_back("The effect of other settings: " + control.error().sentence);
      return;
    }
    autopsy_.reproduced = control->end == TrialEnd::kFails;
    for (const char* setting : WordsOf(history.model).settings) {
      const std::string text = WithSetting(history.settings, setting);
      if (text == history.settings) continue;
      Result<Trial> trial = TrySettings(history, failure.moment, room, text, autopsy_.program.upcoming);
      if (trial.ok()) autopsy_.trials.push_back(std::move(trial).value());
    }
  }

  // Lower bound for the bytes of the request and those that follow it.
  [[nodiscard]] uint64_t Needed() const {
    uint64_t bytes = autopsy_.rounded;
    for (const uint64_t request : autopsy_.program.upcoming) bytes += subject_.rules.Rounded(request);
    return bytes;
  }

  // The verdict is growth or failed steps if they hold at least the bytes of the request.
  void JudgeProgram() {
    autopsy_.of_allocator = autopsy_.verdict;
    const Circumstances& program = autopsy_.program;
    const auto holds_it = [&](uint64_t bytes) { return bytes != 0 && bytes >= autopsy_.rounded; };
    if (holds_it(program.left_by_failures)) {
      autopsy_.verdict = Verdict::kFailedSteps;
    } else if (holds_it(program.grown)) {
      autopsy_.verdict = Verdict::kGrowth;
    }
  }

  void Judge() {
    const FreeBytes& free = autopsy_.free;
    const uint64_t driver = free.driver.value_or(0);
    const bool fitted = autopsy_.reproduced.value_or(false) &&
                        std::any_of(autopsy_.trials.begin(), autopsy_.trials.end(),
                                    [](const Trial& trial) { return trial.end == TrialEnd::kFits; });
    if (free.largest_block >= autopsy_.rounded) {
      autopsy_.verdict = Verdict::kFitsFreeBlock;
    } else if (free.driver.has_value() && driver + autopsy_.returned >= autopsy_.segment_bytes) {
      autopsy_.verdict = Verdict::kEmptyCache;
    } else if (fitted) {
      autopsy_.verdict = Verdict::kSetting;
    } else if (free.all() + driver >= Needed()) {
      autopsy_.verdict = Verdict::kStitchable;
    } else if (free.driver.has_value()) {
      autopsy_.verdict = Verdict::kTrueShortage;
      autopsy_.shortfall = Needed() - free.all() - driver;
    }
  }

  // The verdict if the segments are unknown: uses PyTorch's own totals.
  void JudgeByTotals(const Failure& failure) {
    if (failure.total_reserved < failure.total_allocated || failure.total_reserved == 0) return;
    const uint64_t unused = failure.total_reserved - failure.total_allocated;
    if (unused >= autopsy_.rounded) {
      autopsy_.verdict = Verdict::kStitchable;
    } else if (failure.driver_free.has_value() && unused + *failure.driver_free < autopsy_.rounded) {
      autopsy_.verdict = Verdict::kTrueShortage;
      autopsy_.shortfall = autopsy_.rounded - unused - *failure.driver_free;
    }
  }

  const Subject& subject_;
  const LayoutWalk& walk_;
  Autopsy autopsy_;
};

}  // namespace

const char* VerdictKey(Verdict verdict) {
  switch (verdict) {
    case Verdict::kUnknown:
      return "unknown";
    case Verdict::kGrowth:
      return "growth";
    case Verdict::kFailedSteps:
      return "failed_steps";
    case Verdict::kFitsFreeBlock:
      return "fits_free_block";
    case Verdict::kEmptyCache:
      return "empty_cache";
    case Verdict::kSetting:
      return "setting";
    case Verdict::kStitchable:
      return "stitchable";
    case Verdict::kTrueShortage:
      return "true_shortage";
  }
  return "unknown";
}

Result<Autopsy> Examine(const Subject& subject, const LayoutWalk& walk, size_t number) {
  const size_t failures = subject.failures.size();
  if (number > failures) {
    return Error{"there is no out-of-memory event " + std::to_string(number) + ": this " + subject.source +
                 " has " + std::to_string(failures) + "."};
  }
  Examination examination(subject, walk);
  return failures == 0 ? examination.OfEnd()
                       : examination.OfFailure(number == 0 ? subject.main_failure + 1 : number);
}

}  // namespace vramscope::fragmentation
