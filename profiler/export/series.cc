// SPDX-License-Identifier: Apache-2.0
#include "profiler/export/series.h"

namespace vramscope::exporting {

using model::EventIndex;
using model::kNever;

Series::Series(const Content& content, model::DeviceIndex device)
    : content_(content), device_(content.run().devices[device]) {
  for (const model::Change& change : device_.changes) {
    if (change.freed()) continue;
    const classify::Life life = content.analysis().categories().Of(change.block());
    const model::Block& block = content.run().blocks[change.block()];
    for (size_t i = 1; i < life.size(); ++i) {
      if (life[i].begin < block.free_event)
        turns_.push_back({life[i].begin, block.size, life[i - 1].category, life[i].category});
    }
  }
  std::stable_sort(turns_.begin(), turns_.end(),
                   [](const Turn& a, const Turn& b) { return a.event < b.event; });
}

EventIndex Series::NextEvent(const Cursor& cursor) const {
  EventIndex next = kNever;
  if (cursor.change < device_.changes.size()) next = device_.changes[cursor.change].event;
  if (cursor.turn < turns_.size()) next = std::min(next, turns_[cursor.turn].event);
  if (cursor.unseen < device_.unseen.size()) next = std::min(next, device_.unseen[cursor.unseen].event);
  if (cursor.reserved < device_.reserved.size())
    next = std::min(next, device_.reserved[cursor.reserved].event);
  return next;
}

bool Series::Next(Cursor& cursor, SeriesPoint& point) const {
  const EventIndex event = NextEvent(cursor);
  if (event == kNever) return false;
  point.event = event;
  auto& bytes = point.categories;
  // A block's allocation is applied before its category changes, which can be at the same event. The unsigned
  // sums may wrap around in between.
  for (const auto& changes = device_.changes;
       cursor.change < changes.size() && changes[cursor.change].event == event; ++cursor.change) {
    const model::BlockId id = changes[cursor.change].block();
    const uint64_t size = content_.run().blocks[id].size;
    const classify::Life life = content_.analysis().categories().Of(id);
    if (changes[cursor.change].freed()) {
      bytes[static_cast<size_t>(life.At(event == 0 ? 0 : event - 1).category)] -= size;
      point.allocated -= size;
    } else {
      bytes[static_cast<size_t>(life[0].category)] += size;
      point.allocated += size;
    }
  }
  for (; cursor.turn < turns_.size() && turns_[cursor.turn].event == event; ++cursor.turn) {
    const Turn& turn = turns_[cursor.turn];
    bytes[static_cast<size_t>(turn.from)] -= turn.bytes;
    bytes[static_cast<size_t>(turn.to)] += turn.bytes;
  }
  for (; cursor.unseen < device_.unseen.size() && device_.unseen[cursor.unseen].event == event;
       ++cursor.unseen) {
    const auto unseen = static_cast<uint64_t>(device_.unseen[cursor.unseen].value);
    bytes[static_cast<size_t>(classify::Category::kUnattributed)] += unseen - cursor.unseen_bytes;
    point.allocated += unseen - cursor.unseen_bytes;
    cursor.unseen_bytes = unseen;
  }
  for (; cursor.reserved < device_.reserved.size() && device_.reserved[cursor.reserved].event == event;
       ++cursor.reserved)
    point.reserved = static_cast<uint64_t>(device_.reserved[cursor.reserved].value);
  const auto& spans = content_.TrainingOf(device_.process).spans();
  while (cursor.span + 1 < spans.size() && spans[cursor.span + 1].begin <= event) ++cursor.span;
  point.step = spans[cursor.span].step;
  point.phase = timeline::PhaseOf(spans[cursor.span].part);
  return true;
}

}  // namespace vramscope::exporting
