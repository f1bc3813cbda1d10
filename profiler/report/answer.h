// SPDX-License-Identifier: Apache-2.0
// The answer of `vramscope report`: where memory went, as plain data.
//
// Terminal, JSON, HTML and the viewer's summary print this and compute nothing, so a number that appears
// twice is the same number. Texts are as recorded: whoever prints them makes them harmless. docs/json.md
// describes the JSON form field by field.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "profiler/classify/category.h"
#include "profiler/classify/proof.h"
#include "profiler/growth/growth.h"
#include "profiler/model/coverage.h"
#include "profiler/model/run.h"
#include "profiler/report/device_memory.h"
#include "profiler/report/host_memory.h"
#include "profiler/report/named_ranges.h"
#include "profiler/report/savings.h"
#include "profiler/timeline/training.h"

namespace vramscope::report {

// A block as it is at a moment.
struct LiveBlock {
  uint64_t number = 0;  // the how-manieth allocation of the trace it is, from 1
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint64_t requested_bytes = 0;  // `bytes` where that is not known
  classify::Category category{};
  classify::Proof proof{};
  std::string name;    // "" = nobody named it
  std::string module;  // of its birth; "" = not known
  std::string op;
};

// The state of the chosen device at one moment.
struct Moment {
  std::string asked;    // as it was asked for; "" for a moment that the report chose
  uint64_t events = 0;  // of the trace so far, as `--at event:N` takes it
  uint64_t time_ns = 0;
  uint64_t monotonic_ns = 0;  // CLOCK_MONOTONIC of the machine that recorded
  uint64_t allocated_bytes = 0;
  std::optional<uint64_t> reserved_bytes;
  std::optional<uint64_t> device_used_bytes;  // by all processes, as the driver says
  std::optional<DeviceMemory> driver;         // when calls of the driver were recorded
  uint32_t step = 0;                          // 0 = outside of all steps
  timeline::Phase phase = timeline::Phase::kOther;
  classify::CategoryBytes categories = {};  // sums to allocated_bytes
  std::vector<LiveBlock> blocks;            // when they were asked for
};

struct Peak : Moment {
  // The most that the allocator held at any moment of the selection; `reserved_bytes` is what it held at this
  // one.
  std::optional<uint64_t> reserved_peak_bytes;
  // What the allocation that made the peak was for; "" = not known.
  std::string module;
  std::string node;
  std::string op;
  uint32_t as_in_step =
      0;  // the deep step that module and op are taken from; 0 = recorded at the peak itself
};

struct Step {
  uint32_t number = 0;
  uint64_t begin_ns = 0;
  uint64_t end_ns = 0;
  bool complete = true;
  bool deep = false;
  Moment peak;
  uint64_t end_bytes = 0;  // allocated when it ended
  uint64_t allocations = 0;
  uint64_t handed_out_bytes = 0;  // of all these allocations
};

// What holds memory at the peak. Every kind of owner shares out the same bytes in its own way.
struct Owner {
  // A module pattern adds up the layers of a stack: "layers.*.mlp" is layers.0.mlp, layers.1.mlp, ... A name
  // is one that the program wrote on its memory: PyTorch's user metadata and annotations, NVTX's memory
  // extension.
  enum class Kind : uint8_t { kModulePattern, kModule, kParameter, kName, kOp, kStack } kind{};
  std::string name;
  uint32_t members = 1;  // how many modules a pattern stands for
  uint64_t bytes = 0;
  uint64_t blocks = 0;
  classify::CategoryBytes categories = {};
  std::vector<std::string> frames;  // of a stack, outermost first
};
[[nodiscard]] const char* OwnerKindKey(Owner::Kind kind);

struct Device {
  std::string name;  // "cuda:0"
  uint32_t pid = 0;
  bool chosen = false;  // the rest of the answer is about this one
  uint64_t allocations = 0;
  Moment peak;
  std::optional<uint64_t> peak_reserved_bytes;
  std::optional<uint64_t> peak_used_bytes;  // of the whole device, which need not be when most was allocated
  uint64_t end_bytes = 0;
};

struct Process {
  uint32_t pid = 0;
  uint32_t parent_pid = 0;
  std::string role;  // "main", "worker", ...
  std::string command_line;
  int32_t exit_status = -1;  // as waitpid gives it; -1 = unknown
  uint64_t events = 0;
  uint64_t steps = 0;
  uint64_t peak_bytes = 0;  // on the device where it was largest
};

struct OutOfMemory {
  uint64_t time_ns = 0;
  uint32_t pid = 0;
  std::string device;
  uint64_t requested_bytes = 0;
  uint32_t step = 0;
  timeline::Phase phase = timeline::Phase::kOther;
};

struct Answer {
  std::string command_line;
  std::string torch_version;
  uint64_t duration_ns = 0;
  bool counts_events = false;  // times are event numbers: model::Run::counts_events
  uint64_t events = 0;

  // The device and process that it is about; empty when nothing was allocated.
  std::string device;
  uint32_t pid = 0;
  std::optional<uint32_t> rank;
  uint32_t others = 0;          // devices that the request means too (device_choice.h)
  std::string about;            // the same in words: "rank 1 (process 4711), cuda:1"
  std::string failed;           // HowItFailed(); "" when it did not
  std::string growth_headline;  // what grows from step to step; "" = nothing that counts
  std::string no_blocks;        // why there may be no blocks of a GPU: CachingOff(); "" = there is no reason
  std::optional<std::pair<uint32_t, uint32_t>> step_range;  // when only these were asked for

  Peak peak;
  std::vector<Step> steps;
  std::vector<Owner> owners;                    // by kind, largest first
  std::map<Owner::Kind, uint64_t> owned_bytes;  // how much of the peak owners of a kind are known for
  std::vector<NamedRange> nvtx_ranges;          // of the process, on the device
  std::vector<Moment> moments;                  // as asked with --at
  bool blocks_listed = false;                   // moments have their blocks
  std::vector<Device> devices;                  // largest peak first
  std::vector<Process> processes;               // in order of their start
  std::optional<HostMemory> host_memory;        // of the process that it is about, and its workers
  std::vector<growth::Growth> growth;           // what leaks on the device, most bytes a step first
  std::vector<OutOfMemory> out_of_memory;
  std::vector<model::Hook> coverage;  // by name
  uint64_t dropped_events = 0;
  trace::Damage damage;
  model::Anomalies anomalies;
  std::optional<Savings> savings;  // when asked for, and the run tells
  std::vector<std::string> notes;  // what a reader must know to read the figures right, one sentence each
};

// The device that the answer is about, in the run that it was made from; kNone: none.
[[nodiscard]] model::DeviceIndex DeviceOf(const model::Run& run, const Answer& answer);

}  // namespace vramscope::report
