// SPDX-License-Identifier: Apache-2.0
// The files that a black box writes, each when the last steps are requested. After eight files, out-of-memory
// errors no longer cause a write.
//
//   out of memory, a request, the command failed ──► run.vms, run-2.vms, ...
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "profiler/collector/black_box/job_orders.h"
#include "profiler/collector/output/trace_output.h"
#include "trace_format/result.h"

namespace vramscope::collector {

class BlackBoxFiles {
 public:
  // `wanted`: first file; "" = run.vms. Later files get the first free number (trace_claim.h). `complete`
  // adds facts about processes to the trace.
  BlackBoxFiles(TraceOutput& output, std::string wanted, std::function<void()> complete);

  // Call after each turn of the recorder. True if the program has run out of memory and a file was written.
  bool WriteAfterOutOfMemory();
  // Carries out requests to the job (job_orders.h), each when its step has finished.
  void Take(const std::vector<JobOrder>& orders);
  // Writes a file on request (control_socket.h) and returns its path.
  Result<std::string> WriteByOrder();
  // Call when the command has failed. If no step has completed since the last out-of-memory error, the file
  // of that error is written again.
  void WriteAtEnd();

  [[nodiscard]] const std::vector<std::string>& paths() const { return paths_; }
  // Why the last file could not be written; "" = it was written.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

 private:
  Result<std::string> Write(const char* why);
  Status WriteInto(std::unique_ptr<trace::ByteSink> sink, const char* why);

  TraceOutput& output_;
  std::string wanted_;
  std::function<void()> complete_;
  std::vector<std::string> paths_;
  std::string trouble_;
  std::vector<JobOrder> waiting_;  // requests whose step has not finished
  bool last_was_out_of_memory_ = false;
  uint64_t steps_before_last_ = 0;
};

}  // namespace vramscope::collector
