// SPDX-License-Identifier: Apache-2.0
// Reserves the output file for one recorder, so that several recorders with the same command line write
// different files.
//
// Launchers start the same command line for every rank (srun -n 3 vramscope record -o run.vms ...). Each
// recorder holds a lock on its file. A recorder takes the first name that is free:
//
//   recorder   tries       and finds                                  so it writes
//   1          run.vms     no file                                    run.vms
//   2          run.vms     a file locked by recorder 1                run-2.vms
//   3          run.vms     a trace written after recorder 3 started   run-3.vms
//   3 again    run-3.vms   its own trace                              run-3.vms, overwritten
//   next day   run.vms     an old trace                               run.vms, overwritten
//
// An existing file that is not a trace (train.py) is never overwritten.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "trace_format/file_sink.h"
#include "trace_format/result.h"

namespace vramscope::collector {

// Stores the start time of this process. Call it first in main.
void NoteProcessStart();

// Returns an error if `path` is an existing file that is not a trace of vramscope.
Status CheckMayBeTrace(const std::string& path);

enum class OldTraces { kWriteOver, kLeave };

class TraceClaim {
 public:
  // Reserves the file `path`. If another recorder has reserved it, or if `old_traces` is kLeave and the file
  // exists, reserves the first free name among path-2, path-3, ... A stream (output_place.h) is used
  // directly.
  static Result<TraceClaim> Take(const std::string& path, OldTraces old_traces);

  [[nodiscard]] const std::string& path() const { return path_; }
  // True if the name differs from the requested name because another recorder has that file.
  [[nodiscard]] bool evaded() const { return evaded_; }
  // Returns the sink for the trace; call once. The lock is held until the sink is destroyed.
  [[nodiscard]] std::unique_ptr<trace::ByteSink> TakeSink() { return std::move(sink_); }
  // Removes the file if it was created for this recording.
  void Discard() const;

 private:
  TraceClaim(std::string path, std::string made, bool evaded, std::unique_ptr<trace::ByteSink> sink)
      : path_(std::move(path)), made_(std::move(made)), evaded_(evaded), sink_(std::move(sink)) {}

  std::string path_;
  std::string made_;  // the file, if this recording created it; otherwise ""
  bool evaded_;
  std::unique_ptr<trace::ByteSink> sink_;
};

}  // namespace vramscope::collector
