// SPDX-License-Identifier: Apache-2.0
// Reserves the file of a new trace for one recorder.
//
// Launchers start one command line for every rank (srun -n 3 vramscope record -o run.vms ...). Each recorder
// holds a lock on its file:
//
//   recorder 1   run.vms    locked
//   recorder 2   run.vms    locked by 1                       ──► run-2.vms
//   recorder 3   run.vms    written since recorder 3 started  ──► run-3.vms
//   recorder 3   run-3.vms  second run, written by itself     ──► written over
//   next day     run.vms    an old trace                      ──► written over
//
// An existing file that is not a trace (train.py) is never overwritten.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "trace_format/file_sink.h"
#include "trace_format/result.h"

namespace vramscope::collector {

// Call first in main.
void NoteProcessStart();

// An error if this would overwrite something that is not one of our traces.
Status CheckMayBeTrace(const std::string& path);

enum class OldTraces { kWriteOver, kLeave };

class TraceClaim {
 public:
  // Takes the file `path`. If another recorder has this file, or the file must be kept, takes the first free
  // name among path-2, path-3, ... A stream (output_place.h) is used as it is.
  static Result<TraceClaim> Take(const std::string& path, OldTraces old_traces);

  [[nodiscard]] const std::string& path() const { return path_; }
  // True if another recorder has the requested name.
  [[nodiscard]] bool evaded() const { return evaded_; }
  // Call once. The lock is held as long as the sink lives.
  [[nodiscard]] std::unique_ptr<trace::ByteSink> TakeSink() { return std::move(sink_); }
  // Removes the file if it was created for this recording.
  void Discard() const;

 private:
  TraceClaim(std::string path, std::string made, bool evaded, std::unique_ptr<trace::ByteSink> sink)
      : path_(std::move(path)), made_(std::move(made)), evaded_(evaded), sink_(std::move(sink)) {}

  std::string path_;
  std::string made_;  // the file that this recording created; "" = none
  bool evaded_;
  std::unique_ptr<trace::ByteSink> sink_;
};

}  // namespace vramscope::collector
