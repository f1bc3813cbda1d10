// SPDX-License-Identifier: Apache-2.0
#include "profiler/fragmentation/snapshot_subject.h"

#include <algorithm>
#include <map>
#include <utility>

#include "profiler/snapshot/history.h"
#include "profiler/snapshot/source.h"
#include "profiler/snapshot/time_axis.h"

namespace vramscope::fragmentation {
namespace {

using snapshot::Snapshot;

struct Stacks {
  std::vector<snapshot::StackId> by_event;           // by event of the history
  std::map<uint64_t, snapshot::StackId> by_address;  // for blocks that existed before the history
};

// `numbers`: for each event of the history, the number of the corresponding event in the device's trace.
Stacks StacksOf(const Snapshot& snapshot, uint32_t device, const std::vector<uint32_t>& numbers) {
  Stacks stacks;
  std::vector<snapshot::StackId> all;
  if (device < snapshot.device_traces.size()) {
    ForEachEvent(snapshot, device, [&](const snapshot::Event& event) { all.push_back(event.stack); });
  }
  stacks.by_event.reserve(numbers.size());
  for (const uint32_t number : numbers) stacks.by_event.push_back(all[number]);
  for (const snapshot::Segment& segment : snapshot.segments) {
    if (segment.device != device) continue;
    for (const snapshot::Block& block : segment.blocks) stacks.by_address[block.address] = block.stack;
  }
  return stacks;
}

std::vector<std::string> Frames(const Snapshot& snapshot, snapshot::StackId stack) {
  std::vector<std::string> frames;
  for (const snapshot::FrameId id : snapshot.stacks.stack(stack)) {
    const snapshot::Frame& frame = snapshot.stacks.frame(id);
    std::string text(snapshot.Text(frame.function));
    const std::string_view file = snapshot.Text(frame.file);
    if (!file.empty() && file != "??")
      text += " (" + std::string(file) + ":" + std::to_string(frame.line) + ")";
    frames.push_back(std::move(text));
  }
  return frames;
}

void AddFailures(const Snapshot& snapshot, Subject& subject, const Stacks& stacks) {
  const auto& events = subject.history.events;
  for (uint32_t i = 0; i < events.size(); ++i) {
    if (events[i].action != allocator::Action::kOutOfMemory) continue;
    Failure failure;
    failure.moment = i;
    failure.requested = events[i].bytes;
    failure.rounded = true;
    failure.driver_free = events[i].address;
    failure.stream = events[i].stream;
    if (events[i].pool != allocator::kUnknownPool) failure.pool = events[i].pool;
    failure.frames = Frames(snapshot, stacks.by_event[i]);
    subject.failures.push_back(std::move(failure));
  }
}

bool Has(const Snapshot& snapshot, uint32_t device) {
  const bool events = device < snapshot.device_traces.size() && snapshot.event_count(device) != 0;
  return events || std::any_of(snapshot.segments.begin(), snapshot.segments.end(),
                               [&](const snapshot::Segment& segment) { return segment.device == device; });
}

uint32_t FirstDevice(const Snapshot& snapshot) {
  for (uint32_t device = 0; device < snapshot.device_traces.size(); ++device)
    if (Has(snapshot, device)) return device;
  return snapshot.segments.empty() ? 0 : snapshot.segments.front().device;
}

}  // namespace

Result<Subject> SubjectOf(std::shared_ptr<const Snapshot> snapshot, std::optional<uint32_t> wanted,
                          const model::Source* source) {
  if (wanted.has_value() && !Has(*snapshot, *wanted)) {
    return Error{"this snapshot has nothing for cuda:" + std::to_string(*wanted) + "."};
  }
  const uint32_t device = wanted.value_or(FirstDevice(*snapshot));
  Subject subject;
  subject.source = "snapshot";
  subject.device = "cuda:" + std::to_string(device);
  subject.about = subject.device;
  snapshot::DeviceHistory read = snapshot::ReadHistory(*snapshot, device);
  if (source != nullptr) {
    snapshot::TraceEvents events = snapshot::TraceEventsOf(*source, device, read.numbers);
    subject.origins = std::move(events.after);
    subject.run_events = events.count;
  }
  subject.history = std::move(read.history);
  subject.rules = RulesOf(subject.history);
  subject.counts_events = snapshot::TimeAxis(*snapshot).counts_events();
  subject.has_layout = true;
  const auto stacks = std::make_shared<const Stacks>(StacksOf(*snapshot, device, read.numbers));
  AddFailures(*snapshot, subject, *stacks);
  subject.main_failure = subject.failures.empty() ? 0 : subject.failures.size() - 1;
  subject.describe = [snapshot, stacks](const Block& block, Moment) {
    BlockText text;
    if (block.born != kBeforeHistory) {
      text.frames = Frames(*snapshot, stacks->by_event[block.born]);
    } else if (const auto found = stacks->by_address.find(block.address); found != stacks->by_address.end()) {
      text.frames = Frames(*snapshot, found->second);
    }
    return text;
  };
  return subject;
}

}  // namespace vramscope::fragmentation
