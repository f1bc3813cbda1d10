// SPDX-License-Identifier: Apache-2.0
#include "profiler/fragmentation/trace_subject.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "profiler/classify/origin.h"
#include "profiler/fragmentation/segment_streams.h"

namespace vramscope::fragmentation {
namespace {

using allocator::Action;
using classify::Analysis;
using model::EventIndex;
using model::Run;

struct Collected {
  allocator::Event event;
  EventIndex origin = 0;
};

class TraceReading {
 public:
  TraceReading(const Run& run, model::DeviceIndex device)
      : run_(run), index_(device), device_(run.devices[device]) {}

  PlacedSubject Take() && {
    subject_.source = "trace";
    subject_.device = device_.name;
    subject_.pid = run_.processes[device_.process].info.pid;
    subject_.origins = origins_;
    subject_.run_events = run_.event_count();
    subject_.about = subject_.device;
    subject_.start_monotonic_ns = run_.source->clock().start_monotonic_ns;
    subject_.history.device = trace::DeviceIndexOf(device_.code);
    subject_.history.complete = true;
    subject_.counts_events = run_.counts_events();
    subject_.history.torch_version = Metadata("torch.version");
    for (const char* name :
         {"env.PYTORCH_ALLOC_CONF", "env.PYTORCH_CUDA_ALLOC_CONF", "allocator.PYTORCH_CUDA_ALLOC_CONF"}) {
      if (const std::string text = Metadata(name); !text.empty()) subject_.history.settings = text;
    }
    subject_.history.model = model::FrameworkOf(*run_.source).allocator;
    subject_.rules = RulesOf(subject_.history);
    // TensorFlow also allocates memory from the driver that does not hold tensors, so its driver calls do not
    // give its segments.
    const bool is_bfc = subject_.history.model == allocator::Model::kBfc;
    if (!is_bfc) CollectSegments();
    if (!subject_.has_layout) CollectToldSegments();
    CollectFailures();
    CollectCompletions();
    AddEvents();
    subject_.main_failure = subject_.failures.empty() ? 0 : subject_.failures.size() - 1;
    FindStreamsOfSegments(subject_.history.events);
    if (!is_bfc) AddRoom();
    AddNotes();
    const auto explain = [failures = failures_at_, index = index_, process = device_.process](
                             const Analysis& analysis, Subject& subject) {
      AddSteps(analysis.training()[process], subject);
      AddTexts(analysis, process, subject);
      subject.circumstances = [&analysis, failures, index](size_t failure) {
        for (const model::OutOfMemory& oom : analysis.run().out_of_memory) {
          if (oom.event == failures[failure])
            return CircumstancesOf(analysis, index, oom.event, oom.requested);
        }
        return Circumstances{};
      };
    };
    return {std::move(subject_), explain};
  }

 private:
  std::string Metadata(const std::string& key) const {
    const auto& all = run_.source->metadata();
    const auto found = all.find(key);
    return found == all.end() ? "" : found->second;
  }

  // Collects a rare event, which AddEvents() inserts between the events of blocks.
  void Collect(Action action, EventIndex at, uint64_t address, uint64_t bytes,
               allocator::StreamIndex stream = 0) {
    allocator::Event event;
    event.stream = stream;
    event.action = action;
    event.address = address;
    event.bytes = bytes;
    event.time_ns = run_.times.TimeOf(at);
    collected_.push_back({event, at});
  }

  // The first event after the end of the process; kNever if the end is unknown or no event follows.
  [[nodiscard]] EventIndex EndOfProcess() const {
    const uint64_t end_ns = run_.processes[device_.process].info.end_ns;
    if (end_ns == 0) return model::kNever;
    const EventIndex last = run_.times.LastEventAt(end_ns);
    const EventIndex next = last == model::kNever ? 0 : last + 1;
    return next < run_.event_count() ? next : model::kNever;
  }

  void CollectSegments() {
    const EventIndex end_of_process = EndOfProcess();
    for (const model::Segment& segment : run_.driver.segments) {
      if (segment.process != device_.process || segment.device_code != device_.code) continue;
      subject_.has_layout = true;
      Collect(segment.mapped ? Action::kSegmentMap : Action::kSegmentAlloc, segment.begin, segment.address,
              segment.size);
      if (segment.mapped) subject_.rules.settings.expandable_segments = true;
      // If a segment ends with its process, the driver freed it and not the allocator, so there is no event.
      if (segment.end == model::kNever || segment.end == end_of_process) continue;
      Collect(segment.mapped ? Action::kSegmentUnmap : Action::kSegmentFree, segment.end, segment.address,
              segment.size);
    }
  }

  // For traces without driver calls, such as those converted from a snapshot: uses the segments that the
  // framework's own history records.
  void CollectToldSegments() {
    subject_.history.complete = Metadata(model::kBeginKey) != model::kInTheMiddle;
    for (const model::SegmentChange& change : run_.segment_changes) {
      if (change.process != device_.process || change.device_code != device_.code) continue;
      subject_.has_layout = true;
      if (change.mapped) subject_.rules.settings.expandable_segments = true;
      const Action came = change.mapped ? Action::kSegmentMap : Action::kSegmentAlloc;
      const Action went = change.mapped ? Action::kSegmentUnmap : Action::kSegmentFree;
      Collect(change.came ? came : went, change.event, change.address, change.size,
              StreamOf(run_.streams[change.stream]));
    }
  }

  void CollectCompletions() {
    apart_ = Metadata(model::kFreesKey) == model::kInTwoHalves;
    if (!apart_) return;
    for (const model::FreeCompletion& of : run_.free_completions) {
      if (of.process == device_.process && of.device_code == device_.code)
        Collect(Action::kFreeCompleted, of.event, of.address, 0);
    }
  }

  void AddEvents() {
    // The sort is stable and segments come first, so a segment exists before a block of the same event.
    std::stable_sort(collected_.begin(), collected_.end(),
                     [](const Collected& a, const Collected& b) { return a.origin < b.origin; });
    const size_t most = collected_.size() + 2 * device_.changes.size();
    subject_.history.events.reserve(most);
    origins_->reserve(most);
    auto next = collected_.begin();
    for (const model::Change& change : device_.changes) {
      for (; next != collected_.end() && next->origin <= change.event; ++next) AddCollected(*next);
      AddBlock(change);
    }
    for (; next != collected_.end(); ++next) AddCollected(*next);
    subject_.requests_known = unknown_requests_ == 0;
    subject_.streams_known = unknown_requests_ == 0 || subject_.history.streams.size() > 1;
    for (size_t i = 0; i < failures_at_.size(); ++i) {
      const EventIndex at = failures_at_[i];
      subject_.failures[i].moment = at == 0 ? 0 : subject_.MomentAfter(at - 1);
    }
  }

  // A recorded completion has only the block's address. Its other values are those of the free's request.
  void AddCollected(const Collected& collected) {
    allocator::Event event = collected.event;
    if (event.action == Action::kFreeCompleted) {
      const auto requested = waiting_.extract(event.address);
      if (requested.empty()) return;
      event.bytes = requested.mapped().bytes;
      event.stream = requested.mapped().stream;
    }
    Add(event, collected.origin);
  }

  // If a trace has no completions, every free completes when it is requested, because the hooks do not see
  // the work of other streams.
  void AddBlock(const model::Change& change) {
    const model::Block& block = run_.blocks[change.block()];
    const bool known = block.slack != model::Block::kUnknownSlack;
    allocator::Event event;
    event.address = block.address;
    event.bytes = block.Requested();
    event.stream = StreamOf(run_.streams[block.stream]);
    event.time_ns = run_.times.TimeOf(change.event);
    if (!change.freed()) {
      event.action = Action::kAlloc;
      Add(event, change.event);
      ++blocks_;
      unknown_requests_ += known ? 0 : 1;
      return;
    }
    event.action = Action::kFreeRequested;
    Add(event, change.event);
    if (apart_) {
      waiting_[block.address] = event;
      return;
    }
    event.action = Action::kFreeCompleted;
    Add(event, change.event);
  }

  void Add(const allocator::Event& event, EventIndex origin) {
    if (Continues(event)) {
      subject_.history.events.back().bytes += event.bytes;
      origins_->back() = origin;
      return;
    }
    subject_.history.events.push_back(event);
    origins_->push_back(origin);
  }

  // The history's number of the stream. Only streams of this device are numbered, the default one first.
  allocator::StreamIndex StreamOf(uint64_t handle) {
    auto& streams = subject_.history.streams;
    const auto known = std::find(streams.begin(), streams.end(), handle);
    const auto index = static_cast<allocator::StreamIndex>(known - streams.begin());
    if (known == streams.end()) streams.push_back(handle);
    return index;
  }

  void CollectFailures() {
    for (const model::OutOfMemory& oom : run_.out_of_memory) {
      const bool here =
          oom.device_code == device_.code && run_.threads[oom.thread].process == device_.process;
      if (!here) continue;
      Collect(Action::kOutOfMemory, oom.event, 0, oom.requested);
      Failure failure;
      failure.requested = oom.requested;
      failure.rounded = true;
      // At a failure TensorFlow's allocator could get no memory: the driver refused, or the limit was
      // reached.
      if (subject_.history.model == allocator::Model::kBfc) failure.driver_free = 0;
      failure.total_allocated = oom.total_allocated;
      failure.total_reserved = oom.total_reserved;
      failure.frames = Frames(oom.stack);
      failures_at_.push_back(oom.event);
      subject_.failures.push_back(std::move(failure));
    }
  }

  // True if the event continues the last one. The driver maps pages one by one, but PyTorch records the pages
  // of one request as one event.
  [[nodiscard]] bool Continues(const allocator::Event& event) const {
    if (event.action != Action::kSegmentMap && event.action != Action::kSegmentUnmap) return false;
    const auto& events = subject_.history.events;
    return !events.empty() && events.back().action == event.action &&
           events.back().address + events.back().bytes == event.address;
  }

  // Adds an entry for each driver report of its free memory and for each failure.
  void AddRoom() {
    const model::DriverDevice* driver = run_.driver.Find(device_.process, device_.code);
    if (driver == nullptr) return;
    std::vector<EventIndex> asked = failures_at_;
    uint64_t capacity = 0;
    for (const model::DriverSample& sample : driver->samples) {
      asked.push_back(sample.event);
      capacity = std::max(capacity, sample.capacity);
    }
    if (capacity == 0) return;
    subject_.history.device_bytes = capacity;
    std::sort(asked.begin(), asked.end());
    uint64_t reserved = 0;
    Moment moment = 0;
    for (const EventIndex at : asked) {
      for (const Moment until = subject_.MomentAfter(at); moment < until; ++moment) {
        const allocator::Event& event = subject_.history.events[moment];
        const bool grows = event.action == Action::kSegmentAlloc || event.action == Action::kSegmentMap;
        const bool shrinks = event.action == Action::kSegmentFree || event.action == Action::kSegmentUnmap;
        reserved += grows ? event.bytes : 0;
        reserved -= shrinks ? std::min(reserved, event.bytes) : 0;
      }
      const auto used = driver->UsedAfter(at);
      if (!used.has_value()) continue;
      const uint64_t left = capacity > *used ? capacity - *used : 0;
      subject_.room.push_back({moment, left + reserved});
    }
    for (size_t i = 0; i < failures_at_.size(); ++i) {
      const auto used = driver->UsedAfter(failures_at_[i]);
      if (used.has_value()) subject_.failures[i].driver_free = capacity > *used ? capacity - *used : 0;
    }
  }

  static void AddSteps(const timeline::Training& training, Subject& subject) {
    for (const timeline::Step& step : training.steps()) {
      const Moment begin = subject.MomentAfter(step.begin);
      const Moment end = step.end == 0 ? 0 : subject.MomentAfter(step.end - 1);
      subject.steps.push_back({step.number, begin, end});
    }
  }

  static void AddTexts(const Analysis& analysis, model::ProcessIndex process, Subject& subject) {
    // The event of the run after which the state is that of the moment.
    const auto event_of = [origins = subject.origins](Moment moment) -> EventIndex {
      return moment == 0 ? 0 : (*origins)[moment - 1];
    };
    subject.place = [&analysis, event_of, process](Moment moment) {
      const timeline::Span& span = analysis.training()[process].SpanAt(event_of(moment));
      return Place{span.step, timeline::PhaseName(timeline::PhaseOf(span.part))};
    };
    // Compares steps on demand. The mutex makes this thread-safe.
    struct Births {
      explicit Births(const Analysis& analysis) : origins(analysis.run(), analysis.training()) {}
      std::mutex mutex;
      classify::Origins origins;
    };
    const auto births = std::make_shared<Births>(analysis);
    subject.describe = [&analysis, event_of, births](const Block& block, Moment moment) {
      BlockText text;
      if (block.born == kBeforeHistory) return text;
      const Run& run = analysis.run();
      const model::BlockId id = run.FirstBlockFrom(event_of(block.born + 1));
      text.number = id + uint64_t{1};
      text.name = analysis.names().Of(id);
      text.category = classify::Info(analysis.categories().At(id, event_of(moment)).category).key;
      const std::lock_guard lock(births->mutex);
      const classify::Origin origin = births->origins.Of(id);
      const model::Birthplace& birth = run.contexts.PlaceOf(origin.context);
      text.module = run.Text(birth.module);
      text.op = run.Text(birth.node != 0 ? birth.node : birth.op);
      text.frames = FramesOf(run, origin.stack);
      return text;
    };
  }

  std::vector<std::string> Frames(uint32_t stack) const { return FramesOf(run_, stack); }
  static std::vector<std::string> FramesOf(const Run& run, uint32_t stack) {
    std::vector<std::string> frames;
    for (const trace::StringId frame : run.source->Stack(stack)) frames.emplace_back(run.Text(frame));
    std::reverse(frames.begin(), frames.end());
    return frames;
  }

  void AddNotes() {
    if (unknown_requests_ != 0) {
      const bool all = unknown_requests_ == blocks_;
      subject_.notes.push_back((all ? "The trace has"
                                    : "For " + std::to_string(unknown_requests_) + " of " +
                                          std::to_string(blocks_) + " blocks, the trace has") +
                               std::string(" the size but not the requested bytes, so figures of requested "
                                           "bytes include rounding and slack."));
    }
    if (const std::string& damage = run_.source->damage().sentence; !damage.empty())
      subject_.notes.push_back(damage);
    if (run_.lost_events() != 0) {
      subject_.notes.push_back(
          std::to_string(run_.lost_events()) +
          " events were lost during recording: blocks and segments may be missing in the layout.");
    }
  }

  const Run& run_;
  model::DeviceIndex index_;
  const model::Device& device_;
  Subject subject_;
  std::shared_ptr<std::vector<EventIndex>> origins_ = std::make_shared<std::vector<EventIndex>>();
  bool apart_ = false;                                      // completions of frees are separate events
  std::unordered_map<uint64_t, allocator::Event> waiting_;  // requests that have not completed, by address
  std::vector<Collected> collected_;                        // sorted by origin in AddEvents()
  std::vector<EventIndex> failures_at_;
  size_t blocks_ = 0;
  size_t unknown_requests_ = 0;
};

// True if the addresses of blocks and segments are known. TensorFlow's regions are recorded. JAX's regions
// are not, and some of its blocks have no address.
bool PlacesAreKnown(const Run& run, const model::Device& device) {
  if (model::FrameworkOf(*run.source).allocator != allocator::Model::kBfc) return true;
  return std::ranges::any_of(run.segment_changes, [&](const model::SegmentChange& change) {
    return change.process == device.process && change.device_code == device.code;
  });
}

}  // namespace

Result<PlacedSubject> PlacedSubjectOf(const Run& run, model::DeviceIndex device) {
  if (!PlacesAreKnown(run, run.devices[device]))
    return Error{"the regions that the allocator of " + run.devices[device].name +
                 " took were not recorded, as in every JAX run, so the addresses of blocks are not known. "
                 "vramscope report shows their sizes."};
  if (trace::DeviceTypeOf(run.devices[device].code) != 0) return TraceReading(run, device).Take();
  return Error{"there are no segments on " + run.devices[device].name +
               ": only GPUs have a caching allocator."};
}

Result<Subject> SubjectOf(const Analysis& analysis, model::DeviceIndex device) {
  auto placed = VRAMSCOPE_TRY(PlacedSubjectOf(analysis.run(), device));
  placed.explain(analysis, placed.subject);
  return std::move(placed.subject);
}

}  // namespace vramscope::fragmentation
