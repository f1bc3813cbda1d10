// SPDX-License-Identifier: Apache-2.0
// The files that a black box writes: one file each time its steps are wanted.
//
//   out of memory, an order, the command failed ──► run.vms, run-2.vms, ...
//
// A program that catches its out-of-memory errors and goes on may have many. After eight files, such errors
// no longer cause a write.
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
  // `wanted`: name of the first file, which replaces an old trace; if empty, run.vms. Later files get the
  // first free number (trace_claim.h). `complete` adds the facts known so far about
  // the processes to the trace's definitions.
  BlackBoxFiles(TraceOutput& output, std::string wanted, std::function<void()> complete);

  // Call after each turn of the recorder. Writes a file if the program has run out of memory. True if a file
  // was written.
  bool WriteAfterOutOfMemory();
  // Obeys orders to the job (job_orders.h), each when its step has finished.
  void Take(const std::vector<JobOrder>& orders);
  // Writes a file on request (control_socket.h). Returns its path, or why there is none.
  Result<std::string> WriteByOrder();
  // Call when the command has failed. If the last file was written for an out-of-memory error and no step has
  // completed since, that file is written again, up to the end of the run.
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
  std::vector<JobOrder> waiting_;  // orders whose step has not finished
  bool last_was_out_of_memory_ = false;
  uint64_t steps_before_last_ = 0;
};

}  // namespace vramscope::collector
