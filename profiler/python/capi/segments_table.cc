// SPDX-License-Identifier: Apache-2.0
// The table of segments. In a recorded run, they come from its driver calls. In a snapshot, they come from
// PyTorch's history, where pages of an expandable segment may be mapped and unmapped in different pieces:
//
//   came 0 ─────────── 8 MiB          a row from 0 to 8 MiB is open
//   went     2 ── 4 MiB               closed: 2 to 4 MiB; still open since its begin: 0 to 2 and 4 to 8 MiB
#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "profiler/python/capi/tables.h"

namespace vramscope::python {
namespace {

using model::EventIndex;
using model::kNever;
using model::Segment;

// The end of a range in a foreign file; ranges that wrap around end at the last address.
uint64_t EndOf(uint64_t address, uint64_t size) {
  return address + std::min(size, std::numeric_limits<uint64_t>::max() - address);
}

class Pieces {
 public:
  explicit Pieces(std::vector<Segment>& done) : done_(done) {}

  void Come(const model::SegmentChange& change) {
    Go(change);  // ends what was at this address, if its end was not recorded
    open_[change.address] = {.address = change.address,
                             .size = change.size,
                             .begin = change.event,
                             .process = change.process,
                             .device_code = change.device_code,
                             .mapped = change.mapped};
  }

  void Go(const model::SegmentChange& change) {
    const uint64_t begin = change.address;
    const uint64_t end = EndOf(begin, change.size);
    auto piece = open_.upper_bound(begin);
    if (piece != open_.begin()) --piece;
    while (piece != open_.end() && piece->first < end) {
      const Segment whole = piece->second;
      const uint64_t whole_end = EndOf(whole.address, whole.size);
      if (whole_end <= begin) {
        ++piece;
        continue;
      }
      piece = open_.erase(piece);
      const uint64_t from = std::max(begin, whole.address);
      const uint64_t to = std::min(end, whole_end);
      if (whole.address < from) open_[whole.address] = Part(whole, whole.address, from, kNever);
      if (to < whole_end) open_[to] = Part(whole, to, whole_end, kNever);
      done_.push_back(Part(whole, from, to, change.event));
    }
  }

  void End() {
    for (const auto& [address, piece] : open_) done_.push_back(piece);
  }

 private:
  static Segment Part(Segment whole, uint64_t from, uint64_t to, EventIndex end) {
    whole.address = from;
    whole.size = to - from;
    whole.end = end;
    return whole;
  }

  std::map<uint64_t, Segment> open_;
  std::vector<Segment>& done_;
};

std::vector<Segment> FromHistory(const model::Run& run) {
  std::vector<Segment> segments;
  std::map<std::pair<model::ProcessIndex, uint16_t>, Pieces> devices;
  for (const model::SegmentChange& change : run.segment_changes) {
    Pieces& pieces = devices.try_emplace({change.process, change.device_code}, segments).first->second;
    change.came ? pieces.Come(change) : pieces.Go(change);
  }
  for (auto& [device, pieces] : devices) pieces.End();
  std::stable_sort(segments.begin(), segments.end(), [](const Segment& a, const Segment& b) {
    return std::tie(a.begin, a.address) < std::tie(b.begin, b.address);
  });
  return segments;
}

}  // namespace

SharedTable SegmentsTable(const model::Run& run) {
  auto table = std::make_shared<Table>();
  auto& process = table->Add<Int32Column>("process");
  auto& device = table->Add<TextColumn>("device");
  auto& address = table->Add<Int64Column>("address");
  auto& bytes = table->Add<Int64Column>("bytes");
  auto& mapped = table->Add<BoolColumn>("mapped");
  auto& begin_ns = table->Add<Int64Column>("begin_ns");
  auto& end_ns = table->Add<Int64Column>("end_ns");
  const std::vector<Segment> history = FromHistory(run);
  for (const std::vector<Segment>* segments : {&run.driver.segments, &history}) {
    for (const Segment& segment : *segments) {
      process.Add(run.processes[segment.process].info.pid);
      device.AddKey(segment.device_code, [&] { return model::DeviceName(segment.device_code); });
      address.Add(segment.address);
      bytes.Add(segment.size);
      mapped.Add(segment.mapped);
      begin_ns.Add(run.times.TimeOf(segment.begin));
      segment.end == kNever ? end_ns.AddMissing() : end_ns.Add(run.times.TimeOf(segment.end));
    }
  }
  return table;
}

}  // namespace vramscope::python
