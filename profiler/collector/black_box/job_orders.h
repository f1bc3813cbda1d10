// SPDX-License-Identifier: Apache-2.0
// Orders to all black boxes of a job, passed through a file in the folder that its recorders write to.
//
//   rank 3 runs out of memory: its recorder appends a line to job/.vramscope-orders
//     "dump 9f3a-4711-1 0 another rank of the job ran out of memory"
//   the recorders of all other ranks look every half second, and write their last steps
//
// Why a file: it reaches every node that shares the folder, and needs no port and no daemon. Without a shared
// folder it reaches the recorders of one node. A recorder obeys only lines that were added after it started.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace_format/result.h"

namespace vramscope::collector {

struct JobOrder {
  std::string sender;  // of the order, unique: "HOST-PID-NUMBER"
  uint64_t step = 0;   // to be obeyed when this optimizer step has finished; 0 = now
  std::string why;
};

class JobOrders {
 public:
  // The folder of `output`, the trace's file name; "" = the current folder.
  explicit JobOrders(const std::string& output);

  // Orders of others since the last call. Looks at the file at most every half second.
  [[nodiscard]] std::vector<JobOrder> TakeNew(uint64_t now_ns);
  // Sends an order to all other recorders of the folder.
  Status Send(uint64_t step, const std::string& why);

 private:
  std::string file_;
  uint64_t read_to_ = 0;  // bytes of the file
  uint64_t looked_ns_ = 0;
  std::string self_;  // beginning of the sender
  uint64_t sent_ = 0;
};

}  // namespace vramscope::collector
