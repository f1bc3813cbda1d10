// SPDX-License-Identifier: Apache-2.0
// The file of a trace that is about to be recorded, for one recorder alone.
//
// Launchers start the same command line for every rank (srun -n 3 vramscope record -o run.vms ...), so many
// recorders ask for one name at once. Each holds a lock on its file while it records:
//
//   recorder 1   run.vms    locked
//   recorder 2   run.vms    locked by 1                       ──► run-2.vms
//   recorder 3   run.vms    not locked any more, but written  ──► run-3.vms
//                           after this recorder was started
//   its 2nd run  run-3.vms  written by this process           ──► written over
//   next day     run.vms    an old trace                      ──► written over
//
// An existing file that is no trace (train.py) is never written over.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "trace_format/file_sink.h"
#include "trace_format/result.h"

namespace vramscope::collector {

// Call first in main: remembers when this process was started.
void NoteProcessStart();

// An error when something else than a trace of ours would be written over; makes and changes nothing.
Status CheckMayBeTrace(const std::string& path);

enum class OldTraces { kWriteOver, kLeave };

class TraceClaim {
 public:
  // The file `path`; when another recorder has it, or it exists and is to be left, the first free one of
  // path-2, path-3, ... A stream (output_place.h) is written to as it is, by everybody.
  static Result<TraceClaim> Take(const std::string& path, OldTraces old_traces);

  [[nodiscard]] const std::string& path() const { return path_; }
  // The name that was asked for belongs to another recorder.
  [[nodiscard]] bool evaded() const { return evaded_; }
  // The sink, empty. Once; the lock is held as long as it lives.
  [[nodiscard]] std::unique_ptr<trace::ByteSink> TakeSink() { return std::move(sink_); }
  // Removes the file if it was made for this recording: nothing will be recorded.
  void Discard() const;

 private:
  TraceClaim(std::string path, std::string made, bool evaded, std::unique_ptr<trace::ByteSink> sink)
      : path_(std::move(path)), made_(std::move(made)), evaded_(evaded), sink_(std::move(sink)) {}

  std::string path_;
  std::string made_;  // the file that was not there before, links followed; "" = none
  bool evaded_;
  std::unique_ptr<trace::ByteSink> sink_;
};

}  // namespace vramscope::collector
