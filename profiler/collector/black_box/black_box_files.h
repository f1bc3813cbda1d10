// SPDX-License-Identifier: Apache-2.0
// Writes the contents of a black box (black_box.h) to trace files. A black box keeps the last steps in
// memory. A file is written when the program runs out of memory, when a user or the job requests it, and when
// the command has failed. After eight files, out-of-memory errors and requests of the job no longer write a
// file.
//
//   out of memory, request, failed command ──► run.vms, run-2.vms, ...
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
  // `wanted` is the path of the first file; "" = run.vms. Later files get the first free number
  // (trace_claim.h). Before each write, `complete` is called to add facts about processes to the trace.
  BlackBoxFiles(TraceOutput& output, std::string wanted, std::function<void()> complete);

  // Call after each drain pass of the recorder. If the program has run out of memory, writes a file. Returns
  // true if a file was written.
  bool WriteAfterOutOfMemory();
  // Adds requests of the job (job_orders.h), and writes a file for each request whose step has finished.
  void Take(const std::vector<JobOrder>& orders);
  // Writes a file for a user's request (control_socket.h). Returns the path of the file.
  Result<std::string> WriteByOrder();
  // Call when the command has failed. If no step has completed since the last out-of-memory error, the file
  // of that error is written again.
  void WriteAtEnd();

  [[nodiscard]] const std::vector<std::string>& paths() const { return paths_; }
  // Reason why the last file could not be written; "" = the file was written.
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
