// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/address_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "profiler/fragmentation/measure.h"
#include "profiler/fragmentation/words.h"
#include "profiler/report/owners.h"
#include "profiler/text/harmless.h"

namespace vramscope::viewer {
namespace {

using fragmentation::Layout;
using fragmentation::Subject;

// Blocks that were described and have ended are forgotten when there are many of them.
constexpr size_t kMostKnown = 1 << 16;

// A snapshot's history does not number its blocks; the address identifies the live ones.
std::unordered_map<uint64_t, model::BlockId> LiveByAddress(const Document& document, const DeviceView& device,
                                                           model::EventIndex moment) {
  std::unordered_map<uint64_t, model::BlockId> by_address;
  if (!document.snapshot) return by_address;
  for (const model::BlockId id : device.live.At(moment)) by_address[document.run->blocks[id].address] = id;
  return by_address;
}

// The number of rows at that scale; fills in the strips if requested.
size_t Flow(const std::vector<MapSegment>& segments, double width, double gap, double bytes_per_pixel,
            std::vector<MapStrip>* strips) {
  size_t row = 0;
  double x = 0;
  for (size_t i = 0; i < segments.size(); ++i) {
    uint64_t begin = 0;
    while (begin < segments[i].bytes) {
      if (width - x < 2) {
        ++row;
        x = 0;
      }
      const uint64_t fits = std::max<uint64_t>(1, static_cast<uint64_t>((width - x) * bytes_per_pixel));
      const uint64_t end = begin + std::min(fits, segments[i].bytes - begin);
      if (strips != nullptr) strips->push_back({i, begin, end, row, x});
      x += static_cast<double>(end - begin) / bytes_per_pixel;
      begin = end;
    }
    x += gap;
  }
  return row + 1;
}

}  // namespace

fragmentation::Moment LayoutMoment(const Document& document, const LayoutView& layout,
                                   model::EventIndex event) {
  return layout.subject.origins != nullptr ? layout.subject.MomentAfter(event)
                                           : layout.subject.MomentAt(document.run->times.TimeOf(event));
}

void AddressMap::Update(const Document& document, const DeviceView& device, const LayoutView& layout,
                        model::EventIndex moment, Coloring by) {
  if (layout_ == &layout && moment_ == moment && by_ == by) return;
  if (layout_ != &layout) {
    cursor_ = std::make_unique<fragmentation::LayoutCursor>(*layout.walk);
    origins_ = std::make_unique<classify::Origins>(*document.run, document.analysis->training());
    colors_ = {};
    known_.clear();
  }
  const bool moved = layout_ != &layout || moment_ != moment;
  layout_ = &layout;
  moment_ = moment;
  by_ = by;
  if (moved) ReadState(document, device, layout);
  Paint(document, device);
}

MapBlock AddressMap::Describe(const Document& document, const Subject& subject, fragmentation::Moment at,
                              const fragmentation::Block& block, uint64_t segment_address) {
  MapBlock shown;
  shown.offset = block.address - segment_address;
  shown.bytes = block.bytes;
  shown.requested = block.requested_bytes;
  if (block.free()) return shown;
  shown.use = block.use == allocator::BlockUse::kPendingFree ? MapBlock::Use::kPending : MapBlock::Use::kLive;
  const classify::Categories& categories = document.analysis->categories();
  if (const auto known = known_.find(block.born); known != known_.end()) {
    shown.block = known->second.block;
    shown.title = known->second.title;
    shown.category = categories.At(shown.block, moment_).category;
    return shown;
  }
  const fragmentation::BlockText text = subject.describe(block, at);
  if (const auto category = classify::CategoryFromKey(text.category)) shown.category = *category;
  std::string_view module = text.module;
  if (text.number && *text.number >= 1 && *text.number <= document.run->blocks.size()) {
    shown.block = static_cast<model::BlockId>(*text.number - 1);
    shown.category = categories.At(shown.block, moment_).category;
    module = report::PlaceOf(*document.analysis, *origins_, shown.block).module;
  }
  if (!text.name.empty() || (module.empty() && !text.frames.empty())) {
    shown.title = fragmentation::BlockTitle(block, text);
  } else {
    shown.title = text::OneLine(module);
  }
  if (shown.block != model::kNone && block.born != fragmentation::kBeforeHistory)
    known_.emplace(block.born, KnownBlock{shown.block, shown.title});
  return shown;
}

void AddressMap::ReadState(const Document& document, const DeviceView& device, const LayoutView& layout) {
  segments_.clear();
  bytes_ = free_ = live_ = 0;
  if (known_.size() > kMostKnown) known_.clear();
  const fragmentation::Moment at = LayoutMoment(document, layout, moment_);
  const Layout& state = cursor_->Seek(at);
  const std::vector<fragmentation::PinnedSegment> pinned = fragmentation::PinnedSegments(state);
  std::unordered_map<fragmentation::SegmentIndex, const fragmentation::PinnedSegment*> pinned_by;
  for (const auto& segment : pinned) pinned_by[segment.segment] = &segment;
  const auto live_by_address = LiveByAddress(document, device, moment_);
  for (const auto& [address, index] : state.segments()) {
    const fragmentation::Segment& segment = state.segment(index);
    const fragmentation::Domain& domain = state.DomainOf(segment);
    MapSegment shown{.address = address,
                     .bytes = segment.bytes,
                     .large = domain.large,
                     .expandable = segment.expandable()};
    shown.domain = fragmentation::DomainTitle(layout.subject, domain.pool, domain.stream);
    std::unordered_set<fragmentation::BlockIndex> pins;
    if (const auto found = pinned_by.find(index); found != pinned_by.end()) {
      pins.insert(found->second->pins.begin(), found->second->pins.end());
      shown.held_back = found->second->held_back;
    }
    for (auto block = segment.first; block != fragmentation::kNoIndex; block = state.block(block).next) {
      shown.blocks.push_back(Describe(document, layout.subject, at, state.block(block), address));
      MapBlock& last = shown.blocks.back();
      last.pins = pins.contains(block);
      const auto known = live_by_address.find(state.block(block).address);
      if (last.use != MapBlock::Use::kFree && last.block == model::kNone && known != live_by_address.end())
        last.block = known->second;
      if (state.block(block).free()) {
        shown.free += state.block(block).bytes;
      } else {
        ++live_;
      }
    }
    bytes_ += shown.bytes;
    free_ += shown.free;
    segments_.push_back(std::move(shown));
  }
}

void AddressMap::Paint(const Document& document, const DeviceView& device) {
  std::vector<ColoredBlock> live;
  std::vector<MapBlock*> painted;
  for (MapSegment& segment : segments_) {
    for (MapBlock& block : segment.blocks) {
      if (block.use == MapBlock::Use::kFree) continue;
      live.push_back({block.block, block.bytes, block.category});
      painted.push_back(&block);
    }
  }
  const std::vector<uint8_t> entries =
      colors_.Paint(document, document.training(device), *origins_, by_, moment_, live);
  for (size_t i = 0; i < painted.size(); ++i) painted[i]->entry = entries[i];
}

MapPage LayOut(const std::vector<MapSegment>& segments, double width, size_t rows, double gap) {
  MapPage page;
  uint64_t bytes = 0;
  for (const MapSegment& segment : segments) bytes += segment.bytes;
  if (bytes == 0 || width < 4 || rows == 0) return page;
  // Gaps need room in addition to the bytes, so the scale is somewhat coarser than the total divided by the
  // page.
  double low = static_cast<double>(bytes) / (width * static_cast<double>(rows));
  double high = low;
  for (int i = 0; i < 60 && Flow(segments, width, gap, high, nullptr) > rows; ++i) high *= 1.5;
  for (int i = 0; i < 40; ++i) {
    const double middle = (low + high) / 2;
    (Flow(segments, width, gap, middle, nullptr) > rows ? low : high) = middle;
  }
  page.bytes_per_pixel = high;
  Flow(segments, width, gap, high, &page.strips);
  return page;
}

const MapBlock* BlockAt(const MapSegment& segment, uint64_t offset) {
  const auto next = std::upper_bound(segment.blocks.begin(), segment.blocks.end(), offset,
                                     [](uint64_t at, const MapBlock& block) { return at < block.offset; });
  if (next == segment.blocks.begin()) return nullptr;
  const MapBlock& block = *(next - 1);
  return offset < block.end() ? &block : nullptr;
}

}  // namespace vramscope::viewer
