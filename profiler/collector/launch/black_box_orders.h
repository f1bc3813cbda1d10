// SPDX-License-Identifier: Apache-2.0
// Connects a black box to the events that write its files, and reports the outcome of the recording.
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
  // From now on, the last steps are written if the program runs out of memory, and on request. Requests come
  // through control_socket.h in `session`, or job_orders.h in the folder of `wanted`. `wanted`: name of the
  // first file (black_box_files.h). This object must outlive the recorder's run.
  BlackBoxOrders(const std::string& session, const std::string& wanted, TraceOutput& output,
                 Recorder& recorder);
  BlackBoxOrders(const BlackBoxOrders&) = delete;
  BlackBoxOrders& operator=(const BlackBoxOrders&) = delete;

  // Call after the run. If the command ended with an error (`failed`), the last steps are written too.
  void Finish(bool failed, RecordOutcome& outcome);

 private:
  TraceOutput& output_;
  BlackBoxFiles files_;
  std::optional<ControlSocket> control_;
  // Not set if the trace is in the current folder: unrelated programs may record there.
  std::optional<JobOrders> job_;
};

}  // namespace vramscope::collector
