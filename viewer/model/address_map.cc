// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/address_map.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiler/cli/frag_screen.h"
#include "profiler/cli/terminal.h"
#include "profiler/report/owners.h"

namespace vramscope::viewer {
namespace {

using fragmentation::Layout;
using fragmentation::Subject;

MapBlock Describe(const Document& document, classify::Origins& origins, const Subject& subject,
                  fragmentation::Moment at, model::EventIndex event, const fragmentation::Block& block,
                  uint64_t segment_address) {
  MapBlock shown;
  shown.offset = block.address - segment_address;
  shown.bytes = block.bytes;
  shown.requested = block.requested_bytes;
  if (block.free()) return shown;
  shown.use = block.use == allocator::BlockUse::kPendingFree ? MapBlock::Use::kPending : MapBlock::Use::kLive;
  const fragmentation::BlockText text = subject.describe(block, at);
  if (const auto category = classify::CategoryFromKey(text.category)) shown.category = *category;
  std::string_view module = text.module;
  if (text.number && *text.number >= 1 && *text.number <= document.run->blocks.size()) {
    shown.block = static_cast<model::BlockId>(*text.number - 1);
    shown.category = document.analysis->categories().At(shown.block, event).category;
    module = report::PlaceOf(*document.analysis, origins, shown.block).module;
  }
  if (!text.name.empty() || (module.empty() && !text.frames.empty())) {
    shown.title = cli::BlockTitle(block, text);
  } else {
    shown.title = cli::Printable(module);
  }
  return shown;
}

// How many rows it takes at that scale; fills in the strips where they are wanted.
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
  return layout.subject.MomentAt(document.run->times.TimeOf(event));
}

void AddressMap::Update(const Document& document, const LayoutView& layout, model::EventIndex moment) {
  if (layout_ == &layout && moment_ == moment) return;
  if (layout_ != &layout) {
    cursor_ = std::make_unique<fragmentation::LayoutCursor>(*layout.walk);
    origins_ = std::make_unique<classify::Origins>(*document.run, document.analysis->training());
  }
  layout_ = &layout;
  moment_ = moment;
  segments_.clear();
  bytes_ = free_ = live_ = 0;
  const fragmentation::Moment at = LayoutMoment(document, layout, moment);
  const Layout& state = cursor_->Seek(at);
  for (const auto& [address, index] : state.segments()) {
    const fragmentation::Segment& segment = state.segment(index);
    const fragmentation::Domain& domain = state.DomainOf(segment);
    MapSegment shown{.address = address,
                     .bytes = segment.bytes,
                     .large = domain.large,
                     .expandable = segment.expandable()};
    shown.domain = cli::DomainTitle(layout.subject, domain.pool, domain.stream);
    for (auto block = segment.first; block != fragmentation::kNoIndex; block = state.block(block).next) {
      shown.blocks.push_back(
          Describe(document, *origins_, layout.subject, at, moment, state.block(block), address));
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

MapPage LayOut(const std::vector<MapSegment>& segments, double width, size_t rows, double gap) {
  MapPage page;
  uint64_t bytes = 0;
  for (const MapSegment& segment : segments) bytes += segment.bytes;
  if (bytes == 0 || width < 4 || rows == 0) return page;
  // Gaps take room beyond the bytes, so the scale is somewhat coarser than the whole by the page.
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
