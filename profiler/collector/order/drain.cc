// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/order/drain.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "profiler/collector/target/process_facts.h"
#include "trace_format/raw_decode.h"

namespace vramscope::collector {

using trace::Event;
using trace::EventType;
using trace::MarkKind;

namespace {

// No clock of this machine runs ahead of ours by this much. Such ticks are broken, and waiting for them would
// block the ring.
constexpr uint64_t kImpossibleLeadNs = 1'000'000'000;
constexpr uint32_t kHighestPid = 1 << 22;  // PID_MAX_LIMIT of Linux
constexpr size_t kMaxMetadataKey = 128;
constexpr size_t kMaxMetadataValue = 4096;

// True for metadata that only the collector may set.
bool IsOwnKey(std::string_view key) {
  static constexpr std::string_view kOwn[] = {"vramscope.", "option.", "host.",    "env.",
                                              "check.",     "command", "process.", "recording."};
  return std::any_of(std::begin(kOwn), std::end(kOwn),
                     [&](std::string_view own) { return key.starts_with(own); });
}

// Facts that a target reports about itself: "own.mesh" of process 3 becomes "process.3.mesh". Only these are
// accepted. Its host and its environment are recorded by the collector.
constexpr std::string_view kOwnPrefix = "own.";
bool IsFactOfProcess(std::string_view key) {
  if (!key.starts_with(kOwnPrefix)) return false;
  const std::string_view fact = key.substr(kOwnPrefix.size());
  return fact == "mesh" || fact == "world" || fact.starts_with("gpu.");
}

bool IsMetadataKey(std::string_view key) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
  };
  return !key.empty() && key.size() <= kMaxMetadataKey && std::all_of(key.begin(), key.end(), fits) &&
         !IsOwnKey(key);
}

}  // namespace

Drain::Drain(TraceOutput& output, const ClockMap& clock, uint64_t start_monotonic_ns)
    : output_(output), clock_(clock), start_monotonic_ns_(start_monotonic_ns) {}

uint64_t Drain::ToTraceNs(uint64_t monotonic_ns) const {
  return monotonic_ns - std::min(monotonic_ns, start_monotonic_ns_);
}

TargetProcess* Drain::FindParent(const RingFileFacts& facts) const {
  if (facts.forked_from == 0) return nullptr;
  // Searches from the newest: a pid may have been used before.
  const auto found = std::find_if(processes_.rbegin(), processes_.rend(), [&](const auto& process) {
    return process->facts().pid == facts.forked_from && process->facts().image == facts.forked_from_image;
  });
  return found == processes_.rend() ? nullptr : found->get();
}

TargetProcess& Drain::AddProcess(std::unique_ptr<RingFile> file, const std::string& path,
                                 const std::string& executable, const std::string& command_line) {
  const RingFileFacts facts = file->facts();
  const TargetProcess* parent = FindParent(facts);
  auto ids = std::make_shared<IdMap>(output_, parent ? parent->ids : nullptr, facts.first_own_string);
  auto process = std::make_unique<TargetProcess>(std::move(file), path, std::move(ids));
  process->info.executable = executable.empty() && parent ? parent->info.executable : executable;
  process->info.command_line = command_line.empty() && parent ? parent->info.command_line : command_line;
  // The process cannot be seen from here. It gets a number that no process can have, so that it is not
  // mistaken for another.
  if (process->info.pid == 0) process->info.pid = kHighestPid + 1 + static_cast<uint32_t>(processes_.size());
  process->info.start_ns = ToTraceNs(facts.created_monotonic_ns);
  process->trace_process = output_.writer().AddProcess(process->info);
  active_.push_back(process.get());
  processes_.push_back(std::move(process));
  return *processes_.back();
}

Drain::PassResult Drain::Pass(uint64_t watermark) {
  PassResult result;
  heap_.clear();
  size_t order = 0;
  for (TargetProcess* process : active_) {
    process->Refresh();
    for (const auto& ring : process->rings) {
      result.fullest_percent = std::max(result.fullest_percent, ring->cursor.fill_percent());
      Head head{0, order++, process, ring.get()};
      if (Advance(head, watermark)) heap_.push_back(head);
    }
  }
  std::make_heap(heap_.begin(), heap_.end(), Later());
  Merge(watermark, result);
  for (TargetProcess* process : active_) ReportLosses(*process, watermark);
  RetireEnded();
  return result;
}

bool Drain::Advance(Head& head, uint64_t watermark) const {
  uint64_t ticks = 0;
  if (!head.ring->cursor.PeekTicks(&ticks)) return false;
  uint64_t ns = clock_.ToMonotonicNs(head.process->facts().clock, ticks);
  if (head.process->ended() || ns > watermark + kImpossibleLeadNs) ns = std::min(ns, watermark - 1);
  head.ns = std::max(ns, head.ring->last_ns);
  return head.ns < watermark;
}

void Drain::Merge(uint64_t watermark, PassResult& result) {
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), Later());
    Head head = heap_.back();
    heap_.pop_back();
    // Stay with this ring while it is the earliest. Mostly one thread is busy, and then each record costs
    // only one comparison of two numbers.
    const uint64_t next_other = heap_.empty() ? std::numeric_limits<uint64_t>::max() : heap_.front().ns;
    bool more = true;
    do {
      const trace::RawRecord* record = head.ring->cursor.Take(buffer_);
      head.ring->last_ns = head.ns;
      Deliver(*head.process, *head.ring, *record, head.ns);
      head.ring->cursor.GiveBackSometimes();
      ++result.records;
      more = Advance(head, watermark);
    } while (more && head.ns < next_other);
    if (more) {
      heap_.push_back(head);
      std::push_heap(heap_.begin(), heap_.end(), Later());
    } else {
      head.ring->cursor.GiveBack();
    }
  }
}

void Drain::Deliver(TargetProcess& process, RingSource& ring, const trace::RawRecord& record, uint64_t ns) {
  if (record.type == trace::kRawDefineString) {
    process.ids->DefineString(record.id, trace::RawText(record));
    return;
  }
  if (record.type == trace::kRawDefineStack) {
    process.ids->DefineStack(record.id, trace::RawFrames(record));
    return;
  }
  if (TakeMetadata(process, record)) return;
  Event event;
  trace::DecodeRaw(&record, &event);
  if (event.type == EventType::kNone) {
    ++unknown_records_;
    return;
  }
  process.ids->Map(&event);
  if (record.type == trace::kRawHeldBlock) {
    // The block was found in the process after its hooks were installed. It may have been allocated in
    // between and already be recorded.
    if (process.memory.blocks.Contains(event.field[trace::alloc::kAddress])) return;
    trace::TraceWriter& writer = output_.writer();
    event.field[trace::alloc::kStack] = writer.InternFrame(0, writer.InternString(trace::kHeldFrame));
  }
  event.time_ns = ToTraceNs(ns);
  event.thread = ThreadOf(process, ring);
  Observe(process, event);
  output_.Add(event);
}

uint32_t Drain::ThreadOf(TargetProcess& process, RingSource& ring) {
  if (ring.thread_known && ring.generation == ring.cursor.generation()) return ring.thread;
  // In another pid namespace only the main thread's number is known from here.
  const uint32_t own_number = ring.cursor.os_thread();
  const uint32_t os_thread = own_number == process.facts().pid ? process.info.pid : own_number;
  ring.thread =
      output_.writer().AddThread({process.trace_process, os_thread, ThreadName(process.info.pid, os_thread)});
  ring.generation = ring.cursor.generation();
  ring.thread_known = true;
  return ring.thread;
}

bool Drain::TakeMetadata(TargetProcess& process, const trace::RawRecord& record) {
  if (record.type != static_cast<uint8_t>(EventType::kMark) ||
      record.small != static_cast<uint16_t>(MarkKind::kUser))
    return false;
  const std::string_view text = process.ids->Metadata(record.id);
  if (text.empty()) return false;
  const size_t equals = std::min(text.find('='), text.size());
  const std::string_view key = text.substr(0, equals);
  if (!IsMetadataKey(key)) return true;
  const std::string_view value = text.substr(std::min(equals + 1, text.size()), kMaxMetadataValue);
  if (IsFactOfProcess(key))
    output_.writer().SetMetadata(
        fmt::format("process.{}.{}", process.trace_process, key.substr(kOwnPrefix.size())), value);
  else
    output_.writer().SetMetadata(key, value);
  return true;
}

void Drain::Observe(TargetProcess& process, Event& event) {
  if (process.last_event_was_exec) process.info.end_ns = 0;  // that exec failed
  process.last_event_was_exec = false;
  switch (event.type) {
    case EventType::kAlloc:
      totals_.Alloc(process.memory, event);
      break;
    case EventType::kFree:
      totals_.Free(process.memory, event);
      break;
    case EventType::kMark:
      ObserveMark(process, event);
      break;
    case EventType::kLost:
      lost_ += event.field[trace::lost::kCount];
      for (const size_t field : {trace::lost::kFirstNs, trace::lost::kLastNs}) {
        event.field[field] = ToTraceNs(clock_.ToMonotonicNs(process.facts().clock, event.field[field]));
      }
      break;
    default:
      break;
  }
}

void Drain::ObserveMark(TargetProcess& process, const Event& event) {
  const uint64_t kind = event.field[trace::mark::kKind];
  if (kind == static_cast<uint64_t>(MarkKind::kExec)) {
    process.last_event_was_exec = true;
    process.info.end_ns = event.time_ns;
  } else if (kind == static_cast<uint64_t>(MarkKind::kExit)) {
    process.info.exit_status = static_cast<int32_t>(event.field[trace::mark::kValue]);
  } else if (kind == static_cast<uint64_t>(MarkKind::kOptimizerStepDone)) {
    ++process.optimizer_steps[event.field[trace::mark::kTensor]];
  }
}

void Drain::ReportLosses(TargetProcess& process, uint64_t watermark) {
  const trace::ClockKind clock = process.facts().clock;
  for (const auto& ring : process.rings) {
    const RingCursor::Loss loss = ring->cursor.TakeLoss();
    if (loss.count != 0) {
      // The target counts first and stores the time afterwards; if it was killed, it may not have stored the
      // time.
      const uint64_t last_ns =
          loss.last_ticks != 0 ? clock_.ToMonotonicNs(clock, loss.last_ticks) : watermark;
      const uint64_t first_ns =
          loss.first_ticks != 0 ? clock_.ToMonotonicNs(clock, loss.first_ticks) : last_ns;
      AddLoss(ThreadOf(process, *ring), loss.count, first_ns, last_ns, watermark);
    }
    if (const uint64_t broken = ring->cursor.broken_bytes() - ring->broken_bytes_reported; broken != 0) {
      ring->broken_bytes_reported += broken;
      broken_bytes_ += broken;
      // The number of records is unknown: assume as many as fit.
      AddLoss(ThreadOf(process, *ring), broken / trace::kRawUnitBytes + 1, ring->last_ns, watermark,
              watermark);
    }
    ring->cursor.RecycleIfDone();
  }
  if (const uint64_t lost = process.TakeLossWithoutRing(); lost != 0) {
    if (!process.ringless_thread) {
      process.ringless_thread =
          output_.writer().AddThread({process.trace_process, process.info.pid, "threads without a ring"});
    }
    AddLoss(*process.ringless_thread, lost, start_monotonic_ns_ + process.info.start_ns, watermark,
            watermark);
  }
}

void Drain::AddLoss(uint32_t thread, uint64_t count, uint64_t first_ns, uint64_t last_ns,
                    uint64_t watermark) {
  lost_ += count;
  Event event;
  event.type = EventType::kLost;
  event.thread = thread;
  event.time_ns = ToTraceNs(std::min(last_ns, watermark));
  event.field[trace::lost::kCount] = count;
  event.field[trace::lost::kFirstNs] = ToTraceNs(std::min(first_ns, watermark));
  event.field[trace::lost::kLastNs] = event.time_ns;
  output_.Add(event);
}

void Drain::RetireEnded() {
  std::erase_if(active_, [&](TargetProcess* process) {
    if (!process->ended()) return false;
    totals_.ProcessEnded(process->memory);
    process->Retire();
    return true;
  });
}

void Drain::DetachAll() {
  for (const TargetProcess* process : active_) process->file().Detach();
}

void Drain::PauseAll() {
  for (const TargetProcess* process : active_) process->file().Pause();
}

void Drain::WriteSummary() {
  trace::TraceWriter& writer = output_.writer();
  uint64_t unknown_ids = 0;
  for (const auto& process : processes_) {
    unknown_ids += process->ids->unknown_ids();
    writer.UpdateProcess(process->trace_process, process->info);
  }
  writer.SetMetadata("check.total_mismatch", std::to_string(totals_.mismatches()));
  writer.SetMetadata("check.unknown_ids", std::to_string(unknown_ids));
  writer.SetMetadata("check.unknown_records", std::to_string(unknown_records_));
  writer.SetMetadata("check.broken_ring_bytes", std::to_string(broken_bytes_));
  writer.SetMetadata("check.lost_records", std::to_string(lost_));
}

}  // namespace vramscope::collector
