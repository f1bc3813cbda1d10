// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/answer/rest_of_run.h"

#include <algorithm>
#include <vector>

#include "profiler/timeline/curve.h"
#include "profiler/whatif/scene/modeled_allocator.h"

namespace vramscope::whatif {
namespace {

using model::EventIndex;
using timeline::Part;

enum class When : uint8_t { kStep, kBefore, kLater };

When KindOf(const timeline::Span& span, bool any_step_before) {
  if (span.step != 0 && span.part != Part::kEvaluation) return When::kStep;
  return any_step_before ? When::kLater : When::kBefore;
}

// Visits each change of the device's memory together with the kind of its moment.
class Moments {
 public:
  Moments(const Step& step, const classify::Analysis& analysis)
      : run_(*step.run),
        device_(run_.devices[step.device]),
        training_(analysis.training()[device_.process]) {}

  // Calls visit(change, span, kind), in order.
  template <typename Visit>
  void Each(const Visit& visit) const {
    const std::vector<timeline::Span>& spans = training_.spans();
    size_t at = 0;
    bool any_step_before = false;
    for (const model::Change& change : device_.changes) {
      for (; at + 1 < spans.size() && spans[at + 1].begin <= change.event; ++at)
        any_step_before |= spans[at].step != 0 && spans[at].part != Part::kEvaluation;
      visit(change, spans[at], KindOf(spans[at], any_step_before));
    }
  }

  // "evaluation after step 6", "after step 6", "before step 1"
  [[nodiscard]] std::string PlaceOf(EventIndex event) const {
    const timeline::Span& span = training_.SpanAt(event);
    uint32_t last = 0;
    for (const timeline::Step& step : training_.steps())
      if (step.end <= event) last = step.number;
    if (span.step != 0 && span.part != Part::kEvaluation) return "step " + std::to_string(span.step);
    const std::string when = last == 0 ? "before step 1" : "after step " + std::to_string(last);
    return span.part == Part::kEvaluation ? "evaluation " + when : when;
  }

 private:
  const model::Run& run_;
  const model::Device& device_;
  const timeline::Training& training_;
};

// The highest recorded reserved bytes at moments of each kind.
struct Recorded {
  uint64_t reserved[3] = {};
};

void Raise(RestOfRun::Part& part, uint64_t bytes, EventIndex event, EventIndex* at) {
  if (bytes <= part.allocated) return;
  part.allocated = bytes;
  *at = event;
}

// True for a block that exists only in the step that allocated it and in the next one. `born`: the span in
// which it was allocated.
bool IsTransient(const timeline::Training& training, const model::Block& block, const timeline::Span& born) {
  const timeline::Step* const step = training.StepNumber(born.step);
  if (step == nullptr || born.part == Part::kEvaluation) return false;
  const timeline::Step* const next = training.StepNumber(step->number + 1);
  return block.free_event < (next == nullptr ? step->end : next->end);
}

// The value of a line, which holds from each of its entries to the next. Ask for moments in order.
class LineCursor {
 public:
  explicit LineCursor(const std::vector<model::Since>& line) : next_(line.begin()), end_(line.end()) {}
  // 0 before the first entry.
  uint64_t After(EventIndex event) {
    for (; next_ != end_ && next_->event <= event; ++next_) value_ = static_cast<uint64_t>(next_->value);
    return value_;
  }

 private:
  std::vector<model::Since>::const_iterator next_;
  std::vector<model::Since>::const_iterator end_;
  uint64_t value_ = 0;
};

// Computes the reserved bytes at moments outside steps, without the steps' own memory, by a replay through
// the allocator model that starts with an empty cache.
void ReplayOutside(const Step& step, const classify::Analysis& analysis, const Moments& moments,
                   RestOfRun& rest) {
  const Result<allocator::Settings> settings = SettingsFor(step, step.settings);
  if (!settings.ok()) return;
  ModeledAllocator modeled(step, *settings);
  allocator::DeviceAllocator& model = modeled.model();
  const timeline::Training& training = analysis.training()[step.run->devices[step.device].process];
  constexpr uint64_t kLeftOut = 1;  // no address of the model is odd
  std::vector<uint64_t> addresses(step.run->blocks.size(), 0);
  moments.Each([&](const model::Change& change, const timeline::Span& span, When kind) {
    const model::Block& block = step.run->blocks[change.block()];
    uint64_t& address = addresses[change.block()];
    if (!change.freed() && (block.Requested() == 0 || IsTransient(training, block, span))) address = kLeftOut;
    if (address == kLeftOut) return;
    if (change.freed())
      (void)model.Free(address);
    else
      address = model.Malloc(block.Requested(), block.stream).value_or(0);
    if (kind == When::kStep) return;
    uint64_t& most = kind == When::kBefore ? rest.before.reserved : rest.later.reserved;
    most = std::max(most, model.statistics().all.reserved_bytes.current);
  });
}

uint64_t SetUpBytes(const Scene& scene) {
  uint64_t bytes = 0;
  for (const Block& block : scene.blocks)
    if (block.birth == Birth::kSetup && !block.Passes()) bytes += block.bytes;
  return bytes;
}

// `bytes`, less what the change saved between `was` and `is`.
uint64_t Less(uint64_t bytes, uint64_t was, uint64_t is) {
  return is >= was ? bytes + (is - was) : bytes - std::min(bytes, was - is);
}

// The additional bytes of a larger step. They scale with the step if the change makes the step larger.
uint64_t Scaled(uint64_t more, uint64_t was, uint64_t is) {
  if (is <= was || was == 0) return more;
  return static_cast<uint64_t>(static_cast<double>(more) *
                               (static_cast<double>(is) / static_cast<double>(was)));
}

}  // namespace

RestOfRun RestOf(const Step& step, const classify::Analysis& analysis) {
  RestOfRun rest;
  const timeline::DeviceCurve curve(*step.run, step.device);
  if (step.OnlyForward()) {
    rest.steps = {curve.peak().bytes, curve.peak_reserved().value_or(0), "another part of the run"};
    return rest;
  }
  const Moments moments(step, analysis);
  EventIndex at[3] = {};
  Recorded recorded;
  RestOfRun::Part* const parts[] = {&rest.steps, &rest.before, &rest.later};
  uint64_t bytes = 0;
  LineCursor unseen(curve.device().unseen);
  LineCursor reserved(curve.device().reserved);
  moments.Each([&](const model::Change& change, const timeline::Span&, When kind) {
    const uint64_t size = step.run->blocks[change.block()].size;
    bytes = change.freed() ? bytes - size : bytes + size;
    const auto index = static_cast<size_t>(kind);
    Raise(*parts[index], bytes + unseen.After(change.event), change.event, &at[index]);
    recorded.reserved[index] = std::max(recorded.reserved[index], reserved.After(change.event));
  });
  for (size_t i = 0; i < std::size(parts); ++i)
    if (parts[i]->allocated != 0) parts[i]->place = moments.PlaceOf(at[i]);
  ReplayOutside(step, analysis, moments, rest);
  rest.steps.reserved = recorded.reserved[static_cast<size_t>(When::kStep)];
  // If the run reserved more at such a moment than its steps had left, it needs that much.
  const uint64_t later = recorded.reserved[static_cast<size_t>(When::kLater)];
  if (later > rest.steps.reserved) rest.later.reserved = later;
  return rest;
}

WholeUse UseOfRun(const RestOfRun& rest, const Replayed& recorded, const Scene& was, const Replayed& now,
                  const Scene& is) {
  WholeUse use{now, ""};
  const uint64_t was_kept = LiveAt(was, 0);
  const uint64_t is_kept = LiveAt(is, 0);
  const auto above = [](uint64_t bytes, uint64_t kept) { return bytes - std::min(bytes, kept); };
  if (rest.steps.allocated > recorded.allocated_peak) {
    const uint64_t was_more = above(recorded.allocated_peak, was_kept);
    const uint64_t is_more = above(now.allocated_peak, is_kept);
    use.allocator.allocated_peak += Scaled(rest.steps.allocated - recorded.allocated_peak, was_more, is_more);
    const uint64_t reserved = Scaled(above(rest.steps.reserved, recorded.reserved_peak), was_more, is_more);
    use.allocator.reserved_peak += reserved;
    use.allocator.reserved_then += reserved;
    use.place = rest.steps.place;
  }
  const auto hold = [&](const RestOfRun::Part& part, uint64_t was_there, uint64_t is_there) {
    if (part.place.empty()) return;
    const uint64_t allocated = Less(part.allocated, was_there, is_there);
    const uint64_t reserved = std::max(allocated, Less(part.reserved, was_there, is_there));
    if (reserved > use.allocator.reserved_peak) {
      use.allocator.reserved_peak = reserved;
      use.place = part.place;
    }
    if (allocated <= use.allocator.allocated_peak) return;
    use.allocator.allocated_peak = allocated;
    use.allocator.reserved_then = std::max(allocated, std::min(reserved, use.allocator.reserved_peak));
    use.place = part.place;
  };
  hold(rest.before, SetUpBytes(was), SetUpBytes(is));
  hold(rest.later, was_kept, is_kept);
  return use;
}

}  // namespace vramscope::whatif
