// SPDX-License-Identifier: Apache-2.0
// Requests to all black boxes of a job, passed through a file in the folder of the traces.
//
//   rank 3 runs out of memory: its recorder appends a line to job/.vramscope-orders
//     "dump 9f3a-4711-1 0 another rank of the job ran out of memory"
//   the recorders of all other ranks look every half second, and write their last steps
//
// Works on all nodes that share the folder. A recorder ignores lines from before its start.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace_format/result.h"

namespace vramscope::collector {

struct JobOrder {
  std::string sender;  // unique: "HOST-PID-NUMBER"
  uint64_t step = 0;   // wait until this optimizer step has finished; 0 = now
  std::string why;
};

class JobOrders {
 public:
  // `output`: file name of the trace.
  explicit JobOrders(const std::string& output);

  // Requests of others since the last call. Reads the file at most every half second.
  [[nodiscard]] std::vector<JobOrder> TakeNew(uint64_t now_ns);
  // Sends a request to all other recorders of the folder.
  Status Send(uint64_t step, const std::string& why);

 private:
  std::string file_;
  uint64_t read_to_ = 0;  // bytes of the file
  uint64_t looked_ns_ = 0;
  std::string self_;  // beginning of the sender
  uint64_t sent_ = 0;
};

}  // namespace vramscope::collector
