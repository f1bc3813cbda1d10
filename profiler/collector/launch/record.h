// SPDX-License-Identifier: Apache-2.0
// Records one command: starts it, drains what it and its children record until they have ended, and closes
// the trace.
//
// The training is the boss. Whatever goes wrong on our side after the start (disk full, no memory, broken
// rings) ends the recording, is said once on stderr and in the trace, and leaves the command as it is.
//
// When the command has ended, processes of it that still record (a daemon, an orphaned worker) are drained
// for two seconds more; then the trace is closed, they go on unrecorded, and the metadata
// "recording.left_running" names them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "profiler/collector/launch/bridge_build.h"
#include "profiler/collector/launch/installation.h"
#include "trace_format/result.h"

namespace vramscope::collector {

// Whether recordings note a program when nothing is said about it.
inline constexpr bool kProgramIsNoted = true;

struct RecordOptions {
  std::vector<std::string> command;  // not empty
  std::string output;                // empty: run.vms, or run-2.vms, ... when that exists (trace_claim.h)
  std::function<void(const std::string&)> say;  // what the user should know now; may be empty
  // As the injector reads them (injector/core/options.h).
  std::string device = "auto";
  std::string depth = "auto";
  bool program = kProgramIsNoted;  // one step is noted, to be run again (vramscope_program)
  std::string deep_steps = "2-4";
  std::string stacks = "none";
  std::string cupti = "auto";
  bool emit_nvtx_mem = false;
  bool redact = false;        // command lines without what looks like a secret (text/redact.h)
  bool embed_source = false;  // source files that stacks name, in the trace
  std::string bridge;  // the deep recorder's library (bridge_build.h); empty: deep steps without operators
  std::string bridge_missing;  // why, as one sentence for the trace's metadata
  std::string more_options;    // "key=value;key=value" as it is, for tests
  uint64_t max_bytes = 0;      // 0 = no limit
  // Not 0: the last so many optimizer steps are kept in memory and written when the program runs out of
  // memory, when the command fails, and by order (control_socket.h); else nothing is written.
  uint32_t black_box_steps = 0;
  std::string version;  // of vramscope, for the metadata
  // More variables for the command. Their LD_PRELOAD and PYTHONPATH come behind the recorder's own and before
  // what is there already.
  std::map<std::string, std::string> environment;
  std::map<std::string, std::string> metadata;  // more facts for the trace
  // Nothing is preloaded when it is absent: for programs that write rings by themselves.
  std::optional<Installation> installation;
  // Close this process's stdin and stdout once the command has them: their other ends must see when the
  // command closes them.
  bool release_stdio = false;
};

struct RecordOutcome {
  int wait_status = 0;  // of the command, as waitpid gives it
  std::string path;     // of the trace; of a black box the last that was written, empty when none was
  bool is_black_box = false;
  std::vector<std::string> black_boxes;  // all that were written
  uint64_t events = 0;                   // in the trace
  uint64_t processes = 0;                // that recorded
  uint64_t unrecorded_processes = 0;     // that could make no rings
  uint64_t peak_bytes = 0;               // of the fullest device
  uint64_t file_bytes = 0;
  uint64_t lost_events = 0;            // that a target dropped or that could not be written
  std::string unrecorded;              // why the command itself could not be recorded; empty = it could
  std::string stop_sentence;           // why recording ended before the command; empty = it did not
  std::vector<uint32_t> left_running;  // pids that still recorded when the trace was closed
};

// An error when the command must not be started, before anything is done for it; what Record refuses by
// itself as well. A value that is not empty is a sentence: it runs, but nothing of it can be recorded
// (target_program.h).
Result<std::string> CheckCommand(const std::vector<std::string>& command);

// Fills in `bridge`, or `bridge_missing`: before the command starts, so that its first deep step already has
// operators. Without a bridge the run is recorded all the same. Does nothing for runs without deep steps.
void FindBridge(RecordOptions& options, const BridgeOptions& wishes);

// An error means that the command was not started, and no trace was made.
Result<RecordOutcome> Record(const RecordOptions& options);

}  // namespace vramscope::collector
