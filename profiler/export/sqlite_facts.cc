// SPDX-License-Identifier: Apache-2.0
#include "profiler/export/sqlite_facts.h"

#include <array>
#include <map>
#include <vector>

namespace vramscope::exporting {
namespace {

constexpr std::array<const char*, model::kDriverOwnerCount> kOwners = {
    "pytorch", "pytorch_beside", "nccl", "cublas",  "cudnn", "cuda_libraries",
    "graphs",  "context",        "user", "managed", "pools", "rounding"};

uint32_t PidOf(const model::Run& run, model::ProcessIndex process) { return run.processes[process].info.pid; }

void WriteSegments(const model::Run& run, Database& db) {
  Rows rows(db, "segments", 7);
  for (const model::Segment& segment : run.driver.segments) {
    rows.Number(PidOf(run, segment.process))
        .Name(model::DeviceName(segment.device_code))
        .Number(segment.address);
    rows.Number(segment.size).Number(segment.mapped).Number(run.times.TimeOf(segment.begin));
    segment.end == model::kNever ? rows.Null() : rows.Number(run.times.TimeOf(segment.end));
    rows.Add();
  }
}

// Writes one row for each change of a user's driver memory, with the bytes after the change.
void WriteDriverRows(const model::Run& run, const model::DriverDevice& device, Rows& rows) {
  std::vector<int64_t> bytes(device.rows.size());
  for (size_t i = 0; i < device.changes.size(); ++i) {
    const model::DriverChange& change = device.changes[i];
    const model::DriverDevice::Row& row = device.rows[change.row];
    bytes[change.row] += change.bytes;
    rows.Number(run.times.TimeOf(change.event))
        .Name(model::DeviceName(device.code))
        .Number(PidOf(run, row.process));
    rows.Constant(kOwners[static_cast<size_t>(row.owner)]);
    row.library == 0 ? rows.Null() : rows.Name(run.Text(row.library));
    rows.Number(static_cast<uint64_t>(bytes[change.row])).Add();
  }
}

// Writes the used bytes of the device: as reported by the driver, and between two reports as computed from
// the driver calls.
void WriteDeviceUsed(const model::Run& run, const model::DriverDevice& device, Rows& rows) {
  std::map<model::EventIndex, uint64_t> used;
  const auto note = [&](model::EventIndex event) {
    if (const auto bytes = device.UsedAfter(event)) used[event] = *bytes;
  };
  for (size_t i = 0; i < device.changes.size(); ++i) note(device.changes[i].event);
  for (const model::DriverSample& sample : device.samples) note(sample.event);
  for (const auto& [event, bytes] : used)
    rows.Number(run.times.TimeOf(event)).Name(model::DeviceName(device.code)).Number(bytes).Add();
}

}  // namespace

void Stacks::Put(Rows& rows, uint32_t stack) {
  if (stack == 0) {
    rows.Null();
    return;
  }
  rows.Number(stack);
  if (!written_.insert(stack).second) return;
  uint64_t position = 0;
  for (const trace::StringId frame : run_.source->Stack(stack)) {
    rows_.Number(stack).Number(position++);
    texts_.Put(rows_, run_.Text(frame));
    rows_.Add();
  }
}

void WriteOperators(const model::Run& run, Database& db, Texts& texts, Stacks& stacks) {
  struct Open {
    uint64_t number = 0;
    uint64_t begin_ns = 0;
    uint32_t name = 0;
    uint32_t stack = 0;
  };
  Rows rows(db, "operators", 8);
  std::vector<std::vector<Open>> open(run.threads.size());
  uint64_t number = 0;
  (void)run.source->ForEachBatch([&](std::span<const trace::Event> events) {
    for (const trace::Event& event : events) {
      if (event.thread >= open.size()) continue;
      std::vector<Open>& calls = open[event.thread];
      if (event.type == trace::EventType::kOpBegin) {
        calls.push_back({++number, event.time_ns, static_cast<uint32_t>(event.field[trace::op::kName]),
                         static_cast<uint32_t>(event.field[trace::op::kStack])});
      } else if (event.type == trace::EventType::kOpEnd && !calls.empty()) {
        const Open call = calls.back();
        calls.pop_back();
        const model::Thread& thread = run.threads[event.thread];
        rows.Number(call.number);
        calls.empty() ? rows.Null() : rows.Number(calls.back().number);
        rows.Number(PidOf(run, thread.process)).Number(thread.info.os_thread);
        texts.Put(rows, run.Text(call.name));
        stacks.Put(rows, call.stack);
        rows.Number(call.begin_ns).Number(event.time_ns).Add();
      }
    }
    return true;
  });
}

void WriteDriverFacts(const model::Run& run, Database& db) {
  WriteSegments(run, db);
  Rows driver(db, "driver_rows", 6);
  Rows used(db, "device_used", 3);
  for (const model::DriverDevice& device : run.driver.devices) {
    WriteDriverRows(run, device, driver);
    WriteDeviceUsed(run, device, used);
  }
}

void WriteCounters(const model::Run& run, Database& db) {
  Rows rows(db, "counters", 4);
  for (const model::CounterSample& sample : run.counters) {
    rows.Number(run.times.TimeOf(sample.event))
        .Number(PidOf(run, sample.process))
        .Name(run.Text(sample.name));
    rows.Number(sample.value).Add();
  }
  for (const model::PinnedMemory& pinned : run.driver.pinned) {
    for (const model::Since& since : pinned.bytes) {
      rows.Number(run.times.TimeOf(since.event)).Number(PidOf(run, pinned.process)).Constant("host.pinned");
      rows.Number(static_cast<uint64_t>(since.value)).Add();
    }
  }
}

}  // namespace vramscope::exporting
