// SPDX-License-Identifier: Apache-2.0
// The main loop of the collector. Each turn sleeps, finds new and ended processes, and drains the rings of
// all processes into the trace. The loop ends after the command has ended.
//
// A sleep lasts from 0.5 to 20 ms. The next sleep is longer if all rings were nearly empty, and shorter if a
// ring was over a quarter full.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "profiler/collector/host/host_counters.h"
#include "profiler/collector/host/host_sampler.h"
#include "profiler/collector/launch/signal_relay.h"
#include "profiler/collector/order/clock_map.h"
#include "profiler/collector/order/drain.h"
#include "profiler/collector/order/ring_folder_watch.h"
#include "profiler/collector/output/trace_output.h"
#include "profiler/collector/target/process_watch.h"

namespace vramscope::collector {

class Recorder {
 public:
  // `relay` may be null for RunUntil.
  Recorder(TraceOutput& output, ClockAnchor start, RingFolderWatch& folder, SignalRelay* relay);

  // Call before Run. Removes secrets from command lines (text/redact.h).
  void RedactCommandLines() { redact_ = true; }
  // Call before Run. The loop calls `work` at the end of each turn. The loop's sleep ends when `descriptor`
  // becomes readable.
  void AfterEachTurn(int descriptor, std::function<void()> work);

  // Records until the command has ended. If other recorded processes still run then, records them for at most
  // two more seconds. Returns the command's wait status.
  int Run(pid_t command);

  // Records the processes in the session folder until `done` returns true. `done` is called after every turn.
  // Afterwards detaches from the processes and drains their last records.
  void RunUntil(const std::function<bool()>& done);

  // Call after Run: the pids of processes that were still recording.
  [[nodiscard]] std::vector<uint32_t> LeftRunning() const;
  [[nodiscard]] Drain& drain() { return drain_; }

 private:
  struct Watched {
    TargetProcess* process;
    ProcessWatch watch;
  };

  void Sleep() const;
  // When Turn returns, all records from before the call are in the output.
  void Turn();
  void NoteEnded();
  void Welcome(uint64_t now_ns);
  void DrainOnce(uint64_t watermark);
  void TakePrograms();
  void AddHostMemory();
  void FlushSometimes(uint64_t now_ns);
  void AnnounceStop();

  TraceOutput& output_;
  ClockMap clock_;
  Drain drain_;
  RingFolderWatch& folder_;
  SignalRelay* relay_;
  bool redact_ = false;
  std::vector<Watched> watched_;
  HostSampler host_;
  HostCounters host_counters_;
  uint64_t start_monotonic_ns_;
  std::chrono::nanoseconds sleep_;
  uint64_t flushed_ns_;
  int work_descriptor_ = -1;
  std::function<void()> work_;
  bool stop_announced_ = false;
  bool command_ended_ = false;
  bool closing_ = false;
};

}  // namespace vramscope::collector
