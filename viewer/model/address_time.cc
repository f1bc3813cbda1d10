// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/address_time.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <utility>

namespace vramscope::viewer {
namespace {

using model::BlockId;
using model::EventIndex;

// Unused addresses up to this size are drawn as they are; larger ones become a gap.
constexpr uint64_t kClose = 2 << 20;
constexpr double kGap = 0.006;      // of the axis
constexpr double kMostGaps = 0.15;  // of the axis, all together

// Finds the segments of a history, from allocation to free. Mapped pages may be unmapped in other pieces.
class SegmentTracer {
 public:
  void Begin(uint64_t address, uint64_t bytes, double time_ns) {
    open_[address] = {address, address + bytes, time_ns, 0};
  }
  void End(uint64_t begin, uint64_t end, double time_ns) {
    auto at = open_.upper_bound(begin);
    if (at != open_.begin()) --at;
    while (at != open_.end() && at->second.begin < end) {
      if (at->second.end <= begin) {
        ++at;
        continue;
      }
      const SegmentSpan held = at->second;
      at = open_.erase(at);
      done_.push_back({std::max(held.begin, begin), std::min(held.end, end), held.begin_ns, time_ns});
      if (held.begin < begin) open_[held.begin] = {held.begin, begin, held.begin_ns, 0};
      if (held.end > end) open_[end] = {end, held.end, held.begin_ns, 0};
    }
  }
  std::vector<SegmentSpan> Finish(double time_ns) {
    for (auto& [address, span] : open_) {
      span.end_ns = time_ns;
      done_.push_back(span);
    }
    return std::move(done_);
  }

 private:
  std::map<uint64_t, SegmentSpan> open_;
  std::vector<SegmentSpan> done_;
};

std::vector<SegmentSpan> SegmentsOver(const LayoutView& layout, double end_ns) {
  using allocator::Action;
  if (!layout.subject.has_layout) return {};
  SegmentTracer tracer;
  if (!layout.subject.history.complete) {  // else there was none
    const fragmentation::Layout first = layout.walk->At(0);
    for (const auto& [address, index] : first.segments())
      tracer.Begin(address, first.segment(index).bytes, 0);
  }
  const auto& events = layout.subject.history.events;
  for (size_t i = 0; i < events.size(); ++i) {
    const allocator::Event& event = events[i];
    const bool begins = event.action == Action::kSegmentAlloc || event.action == Action::kSegmentMap;
    const bool ends = event.action == Action::kSegmentFree || event.action == Action::kSegmentUnmap;
    if ((!begins && !ends) || !allocator::IsMemory(event.address, event.bytes)) continue;
    const auto time = static_cast<double>(layout.subject.TimeOf(static_cast<fragmentation::Moment>(i + 1)));
    if (ends) tracer.End(event.address, event.address + event.bytes, time);
    if (begins) tracer.Begin(event.address, event.bytes, time);
  }
  return tracer.Finish(end_ns);
}

}  // namespace

AddressAxis::AddressAxis(std::vector<std::pair<uint64_t, uint64_t>> used) {
  std::sort(used.begin(), used.end());
  for (const auto& [begin, end] : used) {
    if (!areas_.empty() && begin <= areas_.back().end + kClose) {
      areas_.back().end = std::max(areas_.back().end, end);
    } else {
      areas_.push_back({begin, end, 0});
    }
  }
  if (areas_.empty()) return;
  for (const Area& area : areas_) bytes_ += static_cast<double>(area.end - area.begin);
  const auto gaps = static_cast<double>(areas_.size() - 1);
  const double gap = gaps == 0 ? 0 : std::min(kGap, kMostGaps / gaps);
  per_byte_ = (1 - gap * gaps) / std::max(bytes_, 1.0);
  double place = 0;
  for (Area& area : areas_) {
    area.place = place;
    place += static_cast<double>(area.end - area.begin) * per_byte_ + gap;
  }
}

double AddressAxis::PlaceOf(uint64_t address) const {
  auto next = std::upper_bound(areas_.begin(), areas_.end(), address,
                               [](uint64_t at, const Area& area) { return at < area.begin; });
  if (next == areas_.begin()) return 0;
  const Area& area = *(next - 1);
  return area.place + static_cast<double>(std::min(address, area.end) - area.begin) * per_byte_;
}

bool AddressAxis::Covers(uint64_t begin, uint64_t end) const {
  auto next = std::upper_bound(areas_.begin(), areas_.end(), begin,
                               [](uint64_t at, const Area& area) { return at < area.begin; });
  return next != areas_.begin() && end <= (next - 1)->end;
}

std::optional<uint64_t> AddressAxis::AddressAt(double place) const {
  auto next = std::upper_bound(areas_.begin(), areas_.end(), place,
                               [](double at, const Area& area) { return at < area.place; });
  if (next == areas_.begin()) return std::nullopt;
  const Area& area = *(next - 1);
  const uint64_t address = area.begin + static_cast<uint64_t>((place - area.place) / per_byte_);
  return address < area.end ? std::optional(address) : std::nullopt;
}

AddressTimeIndex::AddressTimeIndex(const model::Run& run, model::DeviceIndex device, const LayoutView& layout)
    : run_(run) {
  segments_ = SegmentsOver(layout, static_cast<double>(run_.times.last_ns()));
  std::vector<std::pair<uint64_t, uint64_t>> used;
  for (const SegmentSpan& segment : segments_) used.emplace_back(segment.begin, segment.end);
  // Most blocks lie in a segment, or reuse addresses of an earlier block, so the same few areas come again
  // and again.
  AddressAxis known(used);
  size_t unknown = 0;
  for (const model::Change& change : run_.devices[device].changes) {
    if (change.freed()) continue;
    const model::Block& block = run_.blocks[change.block()];
    if (!known.Covers(block.address, block.address + block.size)) {
      used.emplace_back(block.address, block.address + block.size);
      ++unknown;
    }
    if (unknown == 1 << 12) {
      known = AddressAxis(std::exchange(used, {}));
      for (const AddressAxis::Area& area : known.areas()) used.emplace_back(area.begin, area.end);
      unknown = 0;
    }
    const auto life = static_cast<uint64_t>(EndOf(change.block()) - BeginOf(change.block()));
    const auto bucket = static_cast<size_t>(std::bit_width(life));
    if (by_life_.size() <= bucket) by_life_.resize(bucket + 1);
    by_life_[bucket].push_back(change.block());
  }
  axis_ = AddressAxis(std::move(used));
}

double AddressTimeIndex::BeginOf(BlockId block) const {
  return static_cast<double>(run_.times.TimeOf(run_.blocks[block].alloc_event));
}

double AddressTimeIndex::EndOf(BlockId block) const {
  return static_cast<double>(
      run_.times.TimeOf(std::min(run_.blocks[block].free_event, run_.event_count() - 1)));
}

void AddressTimeIndex::ForEachIn(double begin_ns, double end_ns,
                                 const std::function<void(BlockId)>& visit) const {
  for (size_t bucket = 0; bucket < by_life_.size(); ++bucket) {
    const std::vector<BlockId>& blocks = by_life_[bucket];
    const double reach = std::ldexp(1.0, static_cast<int>(bucket));
    auto at = std::partition_point(blocks.begin(), blocks.end(),
                                   [&](BlockId block) { return BeginOf(block) < begin_ns - reach; });
    for (; at != blocks.end() && BeginOf(*at) <= end_ns; ++at) {
      if (EndOf(*at) >= begin_ns) visit(*at);
    }
  }
}

const AddressTimePiece* AddressTimePicture::At(double time_ns, double place) const {
  for (const auto* pieces : {&blocks, &merged}) {
    const auto found = std::find_if(pieces->begin(), pieces->end(), [&](const AddressTimePiece& piece) {
      return time_ns >= piece.begin_ns && time_ns < piece.end_ns && place >= piece.low && place < piece.high;
    });
    if (found != pieces->end()) return &*found;
  }
  return nullptr;
}

void AddressTimeView::Update(const Document& document, const DeviceView& device,
                             const AddressTimeIndex& index, const AddressTimeWindow& window,
                             const std::function<void()>& wake) {
  if (index_ != &index) Forget();
  if (auto picture = drawing_.Take()) picture_ = std::move(*picture);
  if (busy() || (index_ == &index && asked_ == window)) return;
  index_ = &index;
  asked_ = window;
  drawing_.Start(wake, [this, &document, &device, &index, window] {
    return DrawAddressTime(document, device, index, window, colors_);
  });
}

void AddressTimeView::Forget() {
  drawing_.Drop();  // the thread uses the colors
  index_ = nullptr;
  colors_ = {};
  picture_ = {};
}

}  // namespace vramscope::viewer
