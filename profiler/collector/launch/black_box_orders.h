// SPDX-License-Identifier: Apache-2.0
// Decides when a black box writes its files, and reports the outcome of the recording. A black box is a
// recording that keeps only the last steps in memory, and writes them on certain events.
#pragma once

#include <optional>
#include <string>

#include "profiler/collector/black_box/black_box_files.h"
#include "profiler/collector/black_box/job_orders.h"
#include "profiler/collector/launch/record.h"
#include "profiler/collector/launch/recorder.h"
#include "profiler/collector/target/control_socket.h"

namespace vramscope::collector {

class BlackBoxOrders {
 public:
  // Starts to listen for events. The last steps are written if the program runs out of memory, and when a
  // command requests it. Requests come through control_socket.h in the folder `session`, or through
  // job_orders.h in the folder of `wanted`. `wanted` is the name of the first file (black_box_files.h). This
  // object must outlive the recorder's run.
  BlackBoxOrders(const std::string& session, const std::string& wanted, TraceOutput& output,
                 Recorder& recorder);
  BlackBoxOrders(const BlackBoxOrders&) = delete;
  BlackBoxOrders& operator=(const BlackBoxOrders&) = delete;

  // Call this after the run. If the command ended with an error (`failed`), the last steps are written too.
  void Finish(bool failed, RecordOutcome& outcome);

 private:
  TraceOutput& output_;
  BlackBoxFiles files_;
  std::optional<ControlSocket> control_;
  // Not set if the trace is in the current folder, because unrelated programs may record there.
  std::optional<JobOrders> job_;
};

}  // namespace vramscope::collector
