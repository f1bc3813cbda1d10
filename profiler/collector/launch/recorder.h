// SPDX-License-Identifier: Apache-2.0
// The collector's loop: sleep a little, see who came and who went, drain, until the command has ended.
//
// How long to sleep: a wake-up costs the machine some 5 us, a full ring stalls the target. The sleep shortens
// when a ring was over a quarter full and grows when all were nearly empty, between half a millisecond and 20
// ms, so that one busy thread is drained every few milliseconds.
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

  // Before Run: command lines are kept without what looks like a secret (text/redact.h).
  void RedactCommandLines() { redact_ = true; }
  // Called after each turn, and soon when `descriptor` becomes readable. Before Run.
  void AfterEachTurn(int descriptor, std::function<void()> work);

  // Records until the command has ended, and shortly longer for what it left behind. Returns its wait status.
  int Run(pid_t command);

  // Records what is in the session folder until `done`, asked after every turn, says true. Then lets the
  // processes go and drains what they recorded until they noticed.
  void RunUntil(const std::function<bool()>& done);

  // After Run: pids that still recorded.
  [[nodiscard]] std::vector<uint32_t> LeftRunning() const;
  [[nodiscard]] Drain& drain() { return drain_; }

 private:
  struct Watched {
    TargetProcess* process;
    ProcessWatch watch;
  };

  void Sleep() const;
  // One turn: everything that was recorded before the call is in the output after it.
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
  bool command_ended_ = false;  // nobody to pass signals on to
  bool closing_ = false;        // nothing new is recorded any more
};

}  // namespace vramscope::collector
