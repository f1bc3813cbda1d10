// SPDX-License-Identifier: Apache-2.0
// Reads the records from the rings of all recorded processes, merges them in order of time, and writes them
// to the trace. A ring is the buffer into which one thread writes its records (docs/glossary.md).
//
// Records of different threads can be ordered only by their times. At the start of a pass, the clock is read
// (the watermark). The pass merges all records from before the watermark. Later records wait for the next
// pass:
//
//                       watermark
//   ring A  ──a1────a2──────┊──a3
//   ring B  ────b1──────b2──┊
//
// The trace therefore always has the free of a block before the next allocation at the same address, even if
// two threads recorded them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/collector/order/clock_map.h"
#include "profiler/collector/output/trace_output.h"
#include "profiler/collector/target/target_process.h"

namespace vramscope::collector {

class Drain {
 public:
  // `start_monotonic_ns`: CLOCK_MONOTONIC at time 0 of the trace. The references must outlive the object.
  Drain(TraceOutput& output, const ClockMap& clock, uint64_t start_monotonic_ns);

  // Adds a process with its ring file. The file `path` is deleted when the process has ended; `path` may be
  // empty. If `executable` or `command_line` is empty, a forked process gets its parent's value.
  TargetProcess& AddProcess(std::unique_ptr<RingFile> file, const std::string& path,
                            const std::string& executable, const std::string& command_line);

  struct PassResult {
    uint64_t records = 0;
    uint32_t fullest_percent = 0;  // fill level of the fullest ring, before the pass
  };
  // `watermark_monotonic_ns`: a time of CLOCK_MONOTONIC that was read before the call.
  PassResult Pass(uint64_t watermark_monotonic_ns);

  // Stops the recording in all processes.
  void DetachAll();
  // Pauses the recording in all processes. Later events are not recorded and do not count as lost.
  void PauseAll();

  // Writes the process table and the check results. Call after the last pass.
  void WriteSummary();

  [[nodiscard]] const std::vector<std::unique_ptr<TargetProcess>>& processes() const { return processes_; }
  [[nodiscard]] const MemoryTotals& totals() const { return totals_; }
  // Returns the number of records that the processes dropped because a ring was full.
  [[nodiscard]] uint64_t lost() const { return lost_; }
  [[nodiscard]] uint64_t ToTraceNs(uint64_t monotonic_ns) const;

 private:
  struct Head {  // the next record of a ring
    uint64_t ns;
    size_t order;  // index of the ring among all rings; decides if two times are equal
    TargetProcess* process;
    RingSource* ring;
  };
  struct Later {
    bool operator()(const Head& a, const Head& b) const {
      return a.ns != b.ns ? a.ns > b.ns : a.order > b.order;
    }
  };

  // Sets the time of the ring's next record. False if the ring has no record before the watermark.
  bool Advance(Head& head, uint64_t watermark) const;
  void Merge(uint64_t watermark, PassResult& result);
  void Deliver(TargetProcess& process, RingSource& ring, const trace::RawRecord& record, uint64_t ns);
  void Observe(TargetProcess& process, trace::Event& event);
  void ObserveMark(TargetProcess& process, const trace::Event& event);
  // If the record is a mark that contains metadata of the trace, stores the metadata and returns true.
  bool TakeMetadata(TargetProcess& process, const trace::RawRecord& record);
  uint32_t ThreadOf(TargetProcess& process, RingSource& ring);
  void ReportLosses(TargetProcess& process, uint64_t watermark);
  void RetireEnded();
  void AddLoss(uint32_t thread, uint64_t count, uint64_t first_ns, uint64_t last_ns, uint64_t watermark);
  std::shared_ptr<IdMap> IdsFor(const RingFileFacts& facts) const;
  [[nodiscard]] TargetProcess* FindParent(const RingFileFacts& facts) const;

  TraceOutput& output_;
  const ClockMap& clock_;
  uint64_t start_monotonic_ns_;
  std::vector<std::unique_ptr<TargetProcess>> processes_;
  std::vector<TargetProcess*>
      active_;  // processes whose rings are not read to the end; a run may fork thousands of short processes
  std::vector<Head> heap_;
  RecordBuffer buffer_;
  MemoryTotals totals_;
  uint64_t lost_ = 0;
  uint64_t unknown_records_ = 0;
  uint64_t broken_bytes_ = 0;
};

}  // namespace vramscope::collector
