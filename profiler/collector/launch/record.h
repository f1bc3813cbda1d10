// SPDX-License-Identifier: Apache-2.0
// Records one command: starts it, drains what it and its children record until they have ended, and closes
// the trace.
//
// The training comes first. If anything fails on our side after the start (disk full, no memory, broken
// rings), recording ends, with one message on stderr and one in the trace. The command itself is not
// affected.
//
// When the command has ended, some of its processes may still run and record (a daemon, an orphaned
// worker). They are drained for two more seconds. Then the trace is closed, and they continue unrecorded.
// The metadata "recording.left_running" names them, so that a reader knows that the trace does not cover what
// they allocate later.
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

// Whether recordings note a program by default.
inline constexpr bool kProgramIsNoted = true;

struct RecordOptions {
  std::vector<std::string> command;  // not empty
  std::string output;                // empty: run.vms, or run-2.vms, ... if that exists (trace_claim.h)
  std::function<void(const std::string&)> say;  // shows a message to the user now; may be empty
  // Options for the injector, in its syntax (injector/core/options.h).
  std::string device = "auto";
  std::string depth = "auto";
  bool program = kProgramIsNoted;  // one step is noted so that it can be run again (vramscope_program)
  std::string deep_steps = "2-4";
  std::string stacks = "none";
  std::string cupti = "auto";
  bool emit_nvtx_mem = false;
  bool redact = false;        // remove text that looks like a secret from command lines (text/redact.h)
  bool embed_source = false;  // embed in the trace the source files that stacks name
  std::string bridge;  // the deep recorder's library (bridge_build.h); empty: deep steps without operators
  uint64_t bridge_torch_bytes = 0;  // of the libtorch_cpu.so that `bridge` fits
  std::string bridge_missing;       // why `bridge` is empty, as one sentence for the trace's metadata
  std::string more_options;         // passed on unchanged as "key=value;key=value", for tests
  uint64_t max_bytes = 0;           // 0 = no limit
  // If not 0: this many last optimizer steps are kept in memory. They are written when the program runs out
  // of memory, when the command fails, and on request (control_socket.h); otherwise nothing is written.
  uint32_t black_box_steps = 0;
  // If not 0: the trace is a series of files of about this size (trace_output.h). The file being
  // written has the name of the trace. When it is complete, it becomes run.part1.vms and so on. `part_done`
  // is called with its new path and must return soon.
  uint64_t part_bytes = 0;
  std::function<void(const std::string& path)> part_done;
  std::string version;  // of vramscope, for the metadata
  // More variables for the command. Their LD_PRELOAD and PYTHONPATH entries come after the recorder's own and
  // before existing ones.
  std::map<std::string, std::string> environment;
  std::map<std::string, std::string> metadata;  // more metadata for the trace
  // If empty, nothing is preloaded: for programs that write rings by themselves.
  std::optional<Installation> installation;
  // Close this process's stdin and stdout once the command has them, so that their other ends notice when the
  // command closes them.
  bool release_stdio = false;
};

struct RecordOutcome {
  int wait_status = 0;  // of the command, as waitpid reports it
  std::string path;     // of the trace; for a black box the last file written, empty if none was
  bool is_black_box = false;
  std::vector<std::string> black_boxes;  // all files that were written
  uint64_t events = 0;                   // in the trace
  uint64_t processes = 0;                // number of processes that recorded
  uint64_t unrecorded_processes = 0;     // number of processes that could not create rings
  uint64_t peak_bytes = 0;               // of the device with the highest peak
  uint64_t file_bytes = 0;
  uint64_t lost_events = 0;   // dropped by a target or not written
  std::string unrecorded;     // why the command itself could not be recorded; empty = it was recorded
  std::string stop_sentence;  // why recording ended before the command; empty = it did not
  std::vector<uint32_t> left_running;  // pids that still recorded when the trace was closed
};

// Checks a command before anything is done for it. An error: it must not be started. Record makes the same
// check. A non-empty value is a sentence: the command runs, but nothing of it can be recorded
// (target_program.h).
Result<std::string> CheckCommand(const std::vector<std::string>& command);

// Sets `bridge` or `bridge_missing`. Call it before the command starts, so that its first deep step already
// has operators. Without a bridge the run is still recorded. Does nothing for runs without deep steps.
void FindBridge(RecordOptions& options, const BridgeOptions& wishes);

// An error means that the command was not started and no trace was written.
Result<RecordOutcome> Record(const RecordOptions& options);

}  // namespace vramscope::collector
