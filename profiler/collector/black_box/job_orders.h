// SPDX-License-Identifier: Apache-2.0
// Sends requests to all recorders of a job that run with --black-box, through a file in the folder of the
// traces. A request makes a recorder dump its last steps.
//
//   Rank 3 runs out of memory. Its recorder appends a line to job/.vramscope-orders:
//     "dump 9f3a-4711-1 0 another rank of the job ran out of memory"
//   The recorders of all other ranks read the file every half second, and dump their last steps.
//
// This works on all nodes that share the folder. A recorder ignores lines that were written before it
// started.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace_format/result.h"

namespace vramscope::collector {

struct JobOrder {
  std::string sender;  // unique id of the request: "HOST-PID-NUMBER"
  uint64_t step = 0;   // wait until this optimizer step has finished; 0 = now
  std::string why;
};

class JobOrders {
 public:
  // `output`: file name of the trace.
  explicit JobOrders(const std::string& output);

  // Returns the requests that other recorders have sent since the last call. Reads the file at most every
  // half second; between two reads, returns nothing.
  [[nodiscard]] std::vector<JobOrder> TakeNew(uint64_t now_ns);
  // Sends a request to all other recorders of the folder.
  Status Send(uint64_t step, const std::string& why);

 private:
  std::string file_;
  uint64_t read_to_ = 0;    // number of bytes of the file that were read
  uint64_t looked_ns_ = 0;  // time of the last read
  std::string self_;        // how JobOrder::sender begins in this recorder's requests
  uint64_t sent_ = 0;
};

}  // namespace vramscope::collector
