// SPDX-License-Identifier: Apache-2.0
// Records a command and its child processes. Record() starts the command, drains the records until all
// processes have ended, and closes the trace.
//
// If recording fails after the start, one message is printed on stderr and written into the trace. The
// command is not affected.
//
// If processes still run when the command has ended, they are recorded for two more seconds. After that, they
// continue unrecorded. The metadata "recording.left_running" lists these processes.
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

inline constexpr bool kProgramIsNoted = true;

struct RecordOptions {
  std::vector<std::string> command;  // not empty
  std::string output;                // empty = run.vms, or run-2.vms, ... if run.vms exists (trace_claim.h)
  std::function<void(const std::string&)> say;  // shows a message to the user; may be empty
  // Options for the injector, in the syntax of injector/core/options.h.
  std::string device = "auto";
  std::string depth = "auto";
  bool program = kProgramIsNoted;  // records one step as a program (vramscope_program)
  std::string deep_steps = "2-4";
  std::string stacks = "none";
  std::string cupti = "auto";
  bool emit_nvtx_mem = false;
  bool redact = false;              // remove secrets from command lines (text/redact.h)
  bool embed_source = false;        // embed the source files of recorded stacks
  std::string bridge;               // deep recorder (bridge_build.h); empty = deep steps have no operators
  uint64_t bridge_torch_bytes = 0;  // size of the libtorch_cpu.so that `bridge` fits
  std::string bridge_missing;       // reason why `bridge` is empty, for the metadata
  std::string more_options;         // "key=value;key=value", for tests
  uint64_t max_bytes = 0;           // 0 = no limit
  // Number of last optimizer steps to keep in memory; 0 = no black box. The steps are written only if the
  // program runs out of memory, if the command fails, or on request (control_socket.h).
  uint32_t black_box_steps = 0;
  // If not 0, the trace is a series of files of about this size (trace_output.h). A complete file is renamed
  // to run.part1.vms and so on. Then `part_done` is called with the new path. `part_done` must return soon.
  uint64_t part_bytes = 0;
  std::function<void(const std::string& path)> part_done;
  std::string version;  // version of vramscope
  // More environment variables for the command. LD_PRELOAD and PYTHONPATH are appended to the recorder's
  // entries.
  std::map<std::string, std::string> environment;
  std::map<std::string, std::string> metadata;  // added to the trace
  // The recorder's libraries. If empty, nothing is preloaded.
  std::optional<Installation> installation;
  // True: this process closes its stdin and stdout after the command has started.
  bool release_stdio = false;
};

struct RecordOutcome {
  int wait_status = 0;  // status of the command, as from waitpid()
  std::string path;     // path of the trace; for a black box, path of the last file or empty
  bool is_black_box = false;
  std::vector<std::string> black_boxes;
  uint64_t events = 0;                // events in the trace
  uint64_t processes = 0;             // processes that recorded
  uint64_t unrecorded_processes = 0;  // processes that could not create rings
  uint64_t peak_bytes = 0;            // highest peak of all devices
  uint64_t file_bytes = 0;
  uint64_t lost_events = 0;            // dropped by a target or not written
  std::string unrecorded;              // reason why the command was not recorded; empty = recorded
  std::string stop_sentence;           // reason why recording ended early; empty = complete
  std::vector<uint32_t> left_running;  // ids of processes that continue unrecorded
};

// Checks a command before anything is done for it. Returns an error if the command cannot be started. Returns
// "" if the command can be recorded, otherwise the reason why it cannot (target_program.h). Record() does the
// same check.
Result<std::string> CheckCommand(const std::vector<std::string>& command);

// Finds the deep recorder. Sets `options.bridge`, or `options.bridge_missing` if there is none. Call before
// the command starts. Does nothing for depth=light.
void FindBridge(RecordOptions& options, const BridgeOptions& wishes);

// Records a command. Returns an error if the command was not started; then no trace is written.
Result<RecordOutcome> Record(const RecordOptions& options);

}  // namespace vramscope::collector
