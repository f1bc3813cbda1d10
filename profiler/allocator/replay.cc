// SPDX-License-Identifier: Apache-2.0
#include "profiler/allocator/replay.h"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <set>
#include <span>

#include "profiler/allocator/bfc/bfc_replay.h"
#include "profiler/allocator/device_allocator.h"
#include "profiler/allocator/initial_state.h"
#include "profiler/allocator/replay_waits.h"

namespace vramscope::allocator {
namespace {

constexpr size_t kMostSplits = 64;  // ways to split the completions before a request; each copies the model
constexpr size_t kMostWaits = 64;   // waits that gave nothing back, found by replaying from the start
bool IsRelease(Action action) { return action == Action::kSegmentFree || action == Action::kSegmentUnmap; }
bool IsOutcome(Action action) { return action == Action::kAlloc || action == Action::kOutOfMemory; }

class Replayer : private Listener, private Driver {
 public:
  // `waits`: for each request that waited and gave nothing back, the event of its first completion in the
  // wait.
  Replayer(const History& history, const Release& release, const Settings& settings, BlockSizes* sizes,
           const std::set<size_t>& waits)
      : history_(history),
        events_(history.events),
        model_(release, settings, history.device_bytes != 0 ? history.device_bytes : kUnknownDeviceBytes,
               *this),
        sizes_(sizes),
        waits_(waits) {
    for (size_t i = 1; i < history.streams.size(); ++i) (void)model_.AddStream(history.streams[i]);
    for (size_t i = 1; i < history.pools.size(); ++i) (void)model_.AddPool();
  }

  ReplayResult Run() {
    result_.events_total = events_.size();
    Begin();
    model_.SetListener(this);
    while (!result_.first_divergence && cursor_ < events_.size()) Step();
    result_.events_exact = result_.first_divergence ? result_.first_divergence->event : events_.size();
    result_.statistics = model_.statistics();
    result_.peak.reserved_bytes = result_.statistics.all.reserved_bytes.peak;
    if (!result_.first_divergence && history_.has_segments) CompareFinalState();
    return std::move(result_);
  }

 private:
  void Begin() {
    if (!history_.complete) {
      initial_ = InitialStateOf(history_, model_);
      result_.initial_segments = initial_.segments.size();
      result_.initial_blocks = initial_.blocks;
    }
    if (initial_.contradiction) {
      const uint64_t event = initial_.contradiction->event;
      Diverge(event, initial_.contradiction->sentence);
      result_.first_divergence->contradiction = true;
      return;
    }
    Adopt(initial_, &model_);
    if (sizes_ != nullptr) *sizes_ = {std::vector<uint64_t>(events_.size()), initial_.segments};
    NotePeak(0);
  }

  // Processes one event, or all events of one call of the program.
  void Step() {
    const Event& event = events_[cursor_];
    switch (event.action) {
      case Action::kAlloc:
        return Try({[&] { Request(event); }}, cursor_ + 1);
      case Action::kFreeRequested:
        return StepFree(event);
      case Action::kSnapshot:
        return StepSnapshot(event);
      default:
        return StepGroup();
    }
  }

  // If a free completes directly after its request, no other stream used the block. Exception: if the next
  // group may contain a wait, the wait may have completed it. Then it counts as a completion of that group.
  void StepFree(const Event& event) {
    const size_t next = cursor_ + 1;
    const bool at_once = next < events_.size() && events_[next].action == Action::kFreeCompleted &&
                         events_[next].address == event.address && GroupAt(next + 1).plain();
    Try({[&] {
          const bool known = at_once ? model_.Free(event.address) : model_.FreeLater(event.address);
          if (!known) mismatch_ = "no block in use there";
        }},
        cursor_ + (at_once ? 2 : 1));
  }

  void StepSnapshot(const Event& event) {
    const uint64_t active = model_.statistics().all.active_bytes.current;
    if (event.bytes != 0 && event.bytes != active)
      return Diverge(cursor_, std::to_string(active) + " active bytes");
    ++cursor_;
  }

  // Completions, then segments given back and allocated, up to the request that they belong to, if any.
  struct Group {
    size_t completions = 0;  // number of completions at the front
    size_t end = 0;          // index of `outcome`; without one, one past the last event of the group
    const Event* outcome = nullptr;
    bool releases = false;

    // True if nothing in it can come from a wait for all streams.
    [[nodiscard]] bool plain() const {
      return !releases && (outcome == nullptr || outcome->action == Action::kAlloc);
    }
  };

  [[nodiscard]] Group GroupAt(size_t begin) const {
    Group group;
    size_t at = begin;
    while (at < events_.size() && events_[at].action == Action::kFreeCompleted) ++at;
    group.completions = at - begin;
    while (at < events_.size() && !IsOutcome(events_[at].action) &&
           events_[at].action != Action::kFreeRequested && events_[at].action != Action::kSnapshot) {
      group.releases |= IsRelease(events_[at].action);
      ++at;
    }
    group.end = at;
    if (at < events_.size() && IsOutcome(events_[at].action)) group.outcome = &events_[at];
    return group;
  }

  void StepGroup() {
    const Group group = GroupAt(cursor_);
    const bool waited = waits_.contains(cursor_);
    if (group.plain() && group.completions > 0 && !waited) return StepCompletion();
    if (group.plain() && group.outcome != nullptr)
      return Try({[&] { Request(*group.outcome); }}, group.end + 1);
    MakePoolsReleasable(group.end);
    if (group.outcome == nullptr) return Try(Releases(group.completions), group.end);
    Try(Readings(*group.outcome, group.completions), group.end + 1);
  }

  void StepCompletion() {
    const uint64_t address = events_[cursor_].address;
    Try({[&] {
          if (!model_.CompleteFree(address)) mismatch_ = "no pending block there";
        }},
        cursor_ + 1);
  }

  using Reading = std::function<void()>;

  // The possible readings of a group that ends with a request.
  std::vector<Reading> Readings(const Event& outcome, size_t completions) {
    std::vector<Reading> readings;
    const size_t first = cursor_;
    const PoolIndex pool = PoolOf(outcome);
    readings.push_back(
        [this, &outcome, first, completions] { Complete(first, completions), Request(outcome); });
    readings.push_back([this, &outcome] { Request(outcome); });
    readings.push_back([this, &outcome] { model_.EmptyCache(), Request(outcome); });
    readings.push_back([this, &outcome, first, completions] {
      Complete(first, completions), model_.EmptyCache(), Request(outcome);
    });
    readings.push_back([this, &outcome, first, completions, pool] {
      Complete(first, completions);
      model_.BeginPool(pool, PoolUse::kGraphCapture);
      Request(outcome);
      model_.EndPool(pool);
    });
    for (PoolIndex i = 1; i < history_.pools.size(); ++i) {
      readings.push_back([this, &outcome, i] { model_.EmptyCache(i), Request(outcome); });
    }
    // Some frees completed before the request searched, the others during its wait.
    for (size_t i = 1; i < std::min(completions, kMostSplits); ++i) {
      readings.push_back([this, &outcome, first, i] { Complete(first, i), Request(outcome); });
    }
    return readings;
  }

  // The possible readings of a group that gives memory back and ends without a request.
  std::vector<Reading> Releases(size_t completions) {
    std::vector<Reading> readings;
    const size_t first = cursor_;
    readings.push_back([this] { model_.EmptyCache(); });
    readings.push_back([this, first, completions] { Complete(first, completions), model_.EmptyCache(); });
    for (PoolIndex i = 1; i < history_.pools.size(); ++i)
      readings.push_back([this, i] { model_.EmptyCache(i); });
    return readings;
  }

  void Complete(size_t first, size_t count) {
    for (size_t i = first; i < first + count; ++i) {
      if (!model_.CompleteFree(events_[i].address)) mismatch_ = "no pending block there";
    }
  }

  void Request(const Event& event) {
    // The event of a failed request has the rounded size; rounding it again changes nothing.
    const auto address = model_.Malloc(event.bytes, event.stream, PoolOf(event));
    if (!address && event.action == Action::kAlloc && mismatch_.empty()) mismatch_ = "out of memory";
  }

  // Takes the first reading that gives exactly the events up to `end`. A single reading needs no copy.
  void Try(std::initializer_list<Reading> only, size_t end) {
    Try(std::span(only.begin(), only.size()), end);
  }
  void Try(std::span<const Reading> readings, size_t end) {
    const size_t begin = cursor_;
    std::optional<DeviceAllocator> before;
    if (readings.size() > 1) before = model_;
    std::string first_mismatch;
    size_t furthest = begin;
    for (const Reading& reading : readings) {
      reading();
      if (mismatch_.empty() && cursor_ == end) return NoteStep(end - 1);
      if (first_mismatch.empty() || cursor_ > furthest) {
        first_mismatch = mismatch_.empty() ? "nothing more" : mismatch_;
        furthest = std::max(furthest, cursor_);
      }
      mismatch_.clear();
      early_.clear();
      if (!before) break;
      model_ = *before;
      cursor_ = begin;
    }
    Diverge(furthest, first_mismatch);
  }

  // --- the model's decisions, compared with the record
  void OnEvent(const Event& event) override {
    if (!mismatch_.empty()) return;
    if (cursor_ < events_.size() && Same(events_[cursor_], event)) return Advance();
    // Within one wait or one release of cached memory, PyTorch follows the order of its hash tables.
    if (event.action == Action::kFreeCompleted || IsRelease(event.action)) {
      for (size_t i = cursor_ + 1; i < events_.size() && OneRun(events_[i].action, event.action); ++i) {
        if (!Same(events_[i], event) || std::find(early_.begin(), early_.end(), i) != early_.end()) continue;
        early_.push_back(i);
        return;
      }
    }
    mismatch_ = Describe(event);
  }

  static bool OneRun(Action a, Action b) { return a == b || (IsRelease(a) && IsRelease(b)); }

  static bool Same(const Event& recorded, const Event& event) {
    const bool address = recorded.address == event.address || event.action == Action::kOutOfMemory;
    return recorded.action == event.action && address && recorded.bytes == event.bytes &&
           recorded.stream == event.stream;
  }

  void Advance() {
    ++cursor_;
    while (!early_.empty()) {
      const auto found = std::find(early_.begin(), early_.end(), cursor_);
      if (found == early_.end()) return;
      early_.erase(found);
      ++cursor_;
    }
  }

  // --- the driver, as recorded
  [[nodiscard]] const Event* Next(Action action) const {
    const bool expected = cursor_ < events_.size() && events_[cursor_].action == action;
    return expected ? &events_[cursor_] : nullptr;
  }
  uint64_t AllocateSegment(uint64_t bytes) override {
    const Event* const next = Next(Action::kSegmentAlloc);
    return next != nullptr && next->bytes == bytes ? next->address : 0;
  }
  uint64_t ReserveAddresses(uint64_t) override {
    const Event* const next = Next(Action::kSegmentMap);
    return next != nullptr ? next->address : 0;
  }
  bool MapPages(uint64_t address, uint64_t bytes, uint64_t) override {
    const Event* const next = Next(Action::kSegmentMap);
    return next != nullptr && next->address == address && next->bytes == bytes;
  }
  void FreeSegment(uint64_t, uint64_t) override {}
  void ReleaseAddresses(uint64_t, uint64_t) override {}
  void UnmapPages(uint64_t, uint64_t) override {}
  uint64_t FreeBytes() override { return 0; }

  // The pool of a request: as recorded, or that of the segment that contains its block.
  [[nodiscard]] PoolIndex PoolOf(const Event& event) const {
    if (event.pool != kUnknownPool) return event.pool;
    if (history_.pools.size() == 1) return kDefaultPool;
    for (const auto* segments : {&history_.segments, &initial_.segments}) {
      const auto after = std::upper_bound(segments->begin(), segments->end(), event.address,
                                          [](uint64_t a, const SegmentState& s) { return a < s.address; });
      if (after == segments->begin()) continue;
      const SegmentState& segment = *std::prev(after);
      if (event.address < segment.address + segment.bytes) return segment.pool;
    }
    return kDefaultPool;
  }

  void MakePoolsReleasable(size_t end) {
    for (size_t i = cursor_; i < end; ++i) {
      if (IsRelease(events_[i].action) && PoolOf(events_[i]) != kDefaultPool)
        model_.MakePoolReleasable(PoolOf(events_[i]));
    }
  }

  // Called when all events up to and including `event` match the record.
  void NoteStep(uint64_t event) {
    NotePeak(event);
    if (sizes_ == nullptr || events_[event].action != Action::kAlloc) return;
    if (const Block* const block = model_.Find(events_[event].address))
      sizes_->by_event[event] = block->bytes;
  }

  void NotePeak(uint64_t event) { result_.peak.Note(model_.statistics().all, event); }

  void Diverge(uint64_t event, const std::string& model) {
    Divergence divergence;
    divergence.event = event;
    divergence.model = model;
    if (event < events_.size()) {
      divergence.recorded = Describe(events_[event]);
      divergence.model_at_address = DescribePlace(model_.Segments(), events_[event].address);
    } else {
      divergence.recorded = "the end of the record";
    }
    divergence.allocated_bytes = model_.statistics().all.allocated_bytes.current;
    divergence.reserved_bytes = model_.statistics().all.reserved_bytes.current;
    result_.first_divergence = std::move(divergence);
  }

  void CompareFinalState() {
    result_.final_state_compared = true;
    result_.final_state_difference = FirstDifference(model_.Segments(), history_.segments);
    result_.final_state_exact = result_.final_state_difference.empty();
  }

  const History& history_;
  const std::vector<Event>& events_;
  InitialState initial_;
  DeviceAllocator model_;
  ReplayResult result_;
  size_t cursor_ = 0;          // the next recorded event that the model must produce
  std::vector<size_t> early_;  // later events that the model has already produced
  std::string mismatch_;       // the model's event that differs from the record
  BlockSizes* sizes_;          // or nullptr
  const std::set<size_t>& waits_;
};

Result<ReplayResult> ReplayBy(const Release& release, const History& history, BlockSizes* sizes) {
  const Settings settings = VRAMSCOPE_TRY(ParseSettings(history.settings, release));
  if (settings.cuda_malloc_async)
    return Error{
        "the run used backend:cudaMallocAsync, which keeps no segments: there is nothing to replay."};
  std::set<size_t> waits;
  ReplayResult result = Replayer(history, release, settings, sizes, waits).Run();
  while (const auto wait = CompletionsBefore(history.events, result)) {
    if (waits.size() == kMostWaits || !waits.insert(*wait).second) break;
    BlockSizes these;
    ReplayResult again =
        Replayer(history, release, settings, sizes == nullptr ? nullptr : &these, waits).Run();
    if (again.events_exact <= result.events_exact) break;
    result = std::move(again);
    if (sizes != nullptr) *sizes = std::move(these);
  }
  result.release = release.name;
  result.notes.insert(result.notes.end(), settings.notes.begin(), settings.notes.end());
  return result;
}

}  // namespace

Result<ReplayResult> Replay(const History& history, BlockSizes* sizes) {
  if (history.model == Model::kBfc) return bfc::Replay(history, sizes);
  if (!history.torch_version.empty()) return ReplayBy(ReleaseOf(history.torch_version), history, sizes);
  // Selects the newest rules that explain the record, or those that explain most of it.
  std::optional<Result<ReplayResult>> best;
  BlockSizes these;
  const std::span<const Release> releases = Releases();
  for (auto release = releases.rbegin(); release != releases.rend(); ++release) {
    Result<ReplayResult> result = ReplayBy(*release, history, sizes == nullptr ? nullptr : &these);
    const bool better = result.ok() && (!best || !best->ok() || result->events_exact > (*best)->events_exact);
    const bool exact = result.ok() && result->exact();
    const bool contradiction =
        result.ok() && result->first_divergence && result->first_divergence->contradiction;
    if (better || exact || !best) {
      best = std::move(result);
      if (sizes != nullptr) *sizes = std::move(these);
    }
    if (exact || contradiction) break;
  }
  return std::move(*best);
}

}  // namespace vramscope::allocator
