// SPDX-License-Identifier: Apache-2.0
// The files that a black box leaves: one for each time that its steps were wanted.
//
//   out of memory, an order, the command failed ──► run.vms, run-2.vms, ...
//
// A program that catches its out-of-memory error and goes on may have many: after eight files nothing more is
// written by itself.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "profiler/collector/output/trace_output.h"
#include "trace_format/result.h"

namespace vramscope::collector {

class BlackBoxFiles {
 public:
  // `wanted`: the first file's name, over an old trace; empty: run.vms. Those after it get the first free
  // number (trace_claim.h). `complete` puts what is known about the processes so far into the trace's
  // definitions.
  BlackBoxFiles(TraceOutput& output, std::string wanted, std::function<void()> complete);

  // After each turn of the recorder: writes when the program has run out of memory.
  void WriteAfterOutOfMemory();
  // By order. The path, or why there is none.
  Result<std::string> WriteByOrder();
  // At the end of a command that failed. When no step has passed since the last file was written because
  // memory had run out, that file is written again with the end.
  void WriteAtEnd();

  [[nodiscard]] const std::vector<std::string>& paths() const { return paths_; }
  // Why the last file could not be written; "" = it could.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

 private:
  Result<std::string> Write(const char* why);
  Status WriteInto(std::unique_ptr<trace::ByteSink> sink, const char* why);

  TraceOutput& output_;
  std::string wanted_;
  std::function<void()> complete_;
  std::vector<std::string> paths_;
  std::string trouble_;
  bool last_was_out_of_memory_ = false;
  uint64_t steps_before_last_ = 0;
};

}  // namespace vramscope::collector
