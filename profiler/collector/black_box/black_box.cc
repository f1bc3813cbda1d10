// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/black_box/black_box.h"

#include <algorithm>

namespace vramscope::collector {

using trace::Event;
using trace::EventType;
using trace::MarkKind;

namespace {

bool IsMark(const Event& event, MarkKind kind) {
  return event.type == EventType::kMark && event.field[trace::mark::kKind] == static_cast<uint64_t>(kind);
}

// True if the later fact replaces the earlier one: the same role from the same source, or coverage of the
// same hook.
bool SameLabel(const Event& a, const Event& b) {
  return a.type == b.type && a.type == EventType::kLabel &&
         a.field[trace::label::kRole] == b.field[trace::label::kRole] &&
         a.field[trace::label::kSource] == b.field[trace::label::kSource];
}

bool IsPoolBlock(uint64_t flags) { return trace::DriverMemoryOf(flags) == trace::DriverMemory::kPoolBlock; }

}  // namespace

BlackBox::BlackBox(uint32_t steps, size_t most_events)
    : steps_(std::max(steps, 1u)), most_events_(std::max<size_t>(most_events, 1)) {}

void BlackBox::Add(const Event& event, uint32_t process) {
  window_.push_back({next_order_++, process, event});
  if (EndsStep(event, process)) step_ends_.push_back(next_order_);
  // Folds complete steps older than the window, and events beyond the limit.
  const uint64_t keep_from = step_ends_.size() > steps_ ? step_ends_[step_ends_.size() - steps_ - 1] : 0;
  while (window_.size() > most_events_ || window_.front().order < keep_from) FoldOldest();
}

bool BlackBox::EndsStep(const Event& event, uint32_t process) {
  if (!IsMark(event, MarkKind::kOptimizerStepDone)) return false;
  const uint64_t optimizer = event.field[trace::mark::kTensor];
  if (!has_leader_) {
    has_leader_ = true;
    leader_process_ = process;
    leader_ = optimizer;
  }
  return process == leader_process_ && optimizer == leader_;
}

void BlackBox::FoldOldest() {
  Fold(window_.front());
  window_.pop_front();
  const uint64_t first = window_.empty() ? next_order_ : window_.front().order;
  while (!step_ends_.empty() && step_ends_.front() <= first) {
    step_ends_.pop_front();
    ++steps_before_;
  }
}

void BlackBox::Fold(const Item& item) {
  const Event& event = item.event;
  switch (event.type) {
    case EventType::kAlloc: {
      Block& block = blocks_[{item.process, event.field[trace::alloc::kAddress]}];
      block = {item, {}};
      // The allocator's totals also count blocks that are left out here.
      block.alloc.event.field[trace::alloc::kTotalAllocated] = 0;
      block.alloc.event.field[trace::alloc::kTotalReserved] = 0;
      break;
    }
    case EventType::kFree:
      blocks_.erase({item.process, event.field[trace::free_::kAddress]});
      break;
    case EventType::kLabel:
    case EventType::kSaved:
      FoldFact(item);
      break;
    case EventType::kSavedReleased:
      FoldRelease(item);
      break;
    case EventType::kRangeBegin:
    case EventType::kOpBegin:
    case EventType::kNodeBegin:
      Begin(item);
      break;
    case EventType::kRangeEnd:
      End(item, EventType::kRangeBegin);
      break;
    case EventType::kOpEnd:
      End(item, EventType::kOpBegin);
      break;
    case EventType::kNodeEnd:
      End(item, EventType::kNodeBegin);
      break;
    case EventType::kMark:
      FoldMark(item);
      break;
    case EventType::kCoverage:
      last_of_kind_[{item.process, event.field[trace::coverage::kHook]}] = item;
      break;
    case EventType::kDriverAlloc:
    case EventType::kDriverFree:
      FoldDriver(item);
      break;
    case EventType::kOutOfMemory:
    case EventType::kLost:
    case EventType::kDriverMap:
    case EventType::kSegment:
      always_.push_back(item);
      break;
    default:  // data of finished operators, counters, totals: the window has newer ones
      break;
  }
}

void BlackBox::FoldFact(const Item& item) {
  static_assert(size_t{trace::label::kAddress} == size_t{trace::saved::kAddress});
  const auto block = blocks_.find({item.process, item.event.field[trace::label::kAddress]});
  if (block == blocks_.end()) return;
  std::vector<Item>& facts = block->second.facts;
  std::erase_if(facts, [&](const Item& fact) { return SameLabel(fact.event, item.event); });
  facts.push_back(item);
}

void BlackBox::FoldRelease(const Item& item) {
  const auto block = blocks_.find({item.process, item.event.field[0]});
  if (block == blocks_.end()) return;
  std::vector<Item>& facts = block->second.facts;
  const auto saved = std::find_if(facts.begin(), facts.end(), [](const Item& fact) {
    return fact.event.type == EventType::kSaved &&
           (fact.event.field[trace::saved::kIsOutput] & trace::kSavedByHook) == 0;
  });
  if (saved != facts.end()) facts.erase(saved);
}

void BlackBox::FoldDriver(const Item& item) {
  const Event& event = item.event;
  const bool alloc = event.type == EventType::kDriverAlloc;
  const uint64_t flags =
      event.field[alloc ? size_t{trace::driver_alloc::kFlags} : size_t{trace::driver_free::kFlags}];
  if (!IsPoolBlock(flags)) {
    always_.push_back(item);  // segments, contexts, handles: few
  } else if (alloc) {
    pool_blocks_[{item.process, event.field[trace::driver_alloc::kAddress]}] = item;
  } else {
    pool_blocks_.erase({item.process, event.field[trace::driver_free::kAddress]});
  }
}

std::map<uint32_t, uint64_t> BlackBox::steps_before_of() const {
  std::map<uint32_t, uint64_t> steps;
  for (const auto& [process, folded] : folded_) steps[process] = folded.steps;
  return steps;
}

void BlackBox::FoldMark(const Item& item) {
  if (IsMark(item.event, MarkKind::kOptimizerStepDone)) {
    const uint64_t optimizer = item.event.field[trace::mark::kTensor];
    Folded& folded = folded_.try_emplace(item.process, Folded{optimizer, 0}).first->second;
    if (folded.optimizer == optimizer) ++folded.steps;
  }
  if (IsMark(item.event, MarkKind::kDeepBegin)) deep_[item.process] = item;
  if (IsMark(item.event, MarkKind::kDeepEnd)) deep_.erase(item.process);
  for (const MarkKind kind : {MarkKind::kFork, MarkKind::kExec, MarkKind::kExit}) {
    if (IsMark(item.event, kind)) always_.push_back(item);
  }
}

void BlackBox::End(const Item& item, EventType begin) {
  const auto thread = open_.find(item.event.thread);
  if (thread == open_.end()) return;
  std::vector<Item>& open = thread->second;
  const auto last =
      std::find_if(open.rbegin(), open.rend(), [&](const Item& begun) { return begun.event.type == begin; });
  if (last != open.rend()) open.erase(std::next(last).base());
}

std::vector<Event> BlackBox::Events() const {
  std::vector<const Item*> items;
  for (const auto& [place, block] : blocks_) {
    items.push_back(&block.alloc);
    for (const Item& fact : block.facts) items.push_back(&fact);
  }
  for (const auto& [place, item] : pool_blocks_) items.push_back(&item);
  for (const auto& [thread, open] : open_) {
    for (const Item& item : open) items.push_back(&item);
  }
  for (const auto& [kind, item] : last_of_kind_) items.push_back(&item);
  for (const auto& [process, item] : deep_) items.push_back(&item);
  for (const Item& item : always_) items.push_back(&item);
  for (const Item& item : window_) items.push_back(&item);
  std::ranges::sort(items, {}, [](const Item* item) { return item->order; });

  std::vector<Event> events;
  events.reserve(items.size());
  for (const Item* item : items) events.push_back(item->event);
  return events;
}

}  // namespace vramscope::collector
