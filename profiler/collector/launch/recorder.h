// SPDX-License-Identifier: Apache-2.0
// The collector's loop: sleep, find new and ended processes, drain, until the command has ended.
//
// The sleep lasts from 0.5 to 20 ms: longer if all rings were nearly empty, shorter if a ring was over a
// quarter full.
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
  // `work` is called after each turn, and soon after `descriptor` becomes readable. Call before Run.
  void AfterEachTurn(int descriptor, std::function<void()> work);

  // Records until the command has ended, and a little longer for processes that it left running. Returns its
  // wait status.
  int Run(pid_t command);

  // Records the processes in the session folder until `done` returns true. `done` is called after every turn.
  // Then detaches from the processes and drains the rest.
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
  // When Turn returns, everything recorded before the call is in the output.
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
