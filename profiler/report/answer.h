// SPDX-License-Identifier: Apache-2.0
// The answer of `vramscope report` as plain data: which categories, owners and steps use the memory.
//
// Terminal, JSON, HTML and the viewer print these values without further computation. Texts are unchanged
// from the recording: sanitize them before printing. docs/json.md describes each field.
#pragma once

#include <algorithm>
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

// One block that is alive at a moment.
struct LiveBlock {
  uint64_t number = 0;  // 1-based allocation number in the trace
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint64_t requested_bytes = 0;  // `bytes` if unknown
  classify::Category category{};
  classify::Proof proof{};
  std::string name;    // "" = unnamed
  std::string module;  // module that allocated the block; "" = unknown
  std::string op;
};

// The memory use of a device at one moment.
struct Moment {
  std::string asked;    // the moment in the user's words; "" if the report chose the moment
  uint64_t events = 0;  // number of events up to this moment, as for `--at event:N`
  uint64_t time_ns = 0;
  uint64_t monotonic_ns = 0;  // CLOCK_MONOTONIC of the recording machine
  uint64_t allocated_bytes = 0;
  std::optional<uint64_t> reserved_bytes;
  std::optional<uint64_t> device_used_bytes;  // used by all processes, from the driver
  std::optional<DeviceMemory> driver;         // nullopt if driver calls were not recorded
  uint32_t step = 0;                          // 0 = outside all steps
  timeline::Phase phase = timeline::Phase::kOther;
  classify::CategoryBytes categories = {};  // sums to allocated_bytes
  std::vector<LiveBlock> blocks;            // empty unless requested
};

struct Peak : Moment {
  // The highest reserved bytes in the requested steps, or in the run. In contrast, `reserved_bytes` is the
  // value at this moment.
  std::optional<uint64_t> reserved_peak_bytes;
  // The place of the allocation that caused the peak; "" = unknown.
  std::string module;
  std::string node;
  std::string op;
  uint32_t as_in_step = 0;  // deep step in which module and op were recorded; 0 = at the peak itself
};

struct Step {
  uint32_t number = 0;
  uint64_t begin_ns = 0;
  uint64_t end_ns = 0;
  bool complete = true;
  bool deep = false;
  Moment peak;
  uint64_t end_bytes = 0;  // allocated bytes at the end of the step
  uint64_t allocations = 0;
  uint64_t handed_out_bytes = 0;  // total bytes of these allocations
};

// An owner of memory at the peak. For each kind of owner, the same bytes are divided among the owners of that
// kind.
struct Owner {
  // A module pattern combines equal layers: "layers.*.mlp" is layers.0.mlp, layers.1.mlp, ... A name comes
  // from the program: from PyTorch's user metadata and annotations, or from NVTX's memory extension.
  enum class Kind : uint8_t { kModulePattern, kModule, kParameter, kName, kOp, kStack } kind{};
  std::string name;
  uint32_t members = 1;  // number of modules that match the pattern
  uint64_t bytes = 0;
  uint64_t blocks = 0;
  classify::CategoryBytes categories = {};
  std::vector<std::string> frames;  // for a stack: the frames, outermost first
};
[[nodiscard]] const char* OwnerKindKey(Owner::Kind kind);

struct Device {
  std::string name;  // "cuda:0"
  uint32_t pid = 0;
  bool chosen = false;  // true for the device that the answer describes
  uint64_t allocations = 0;
  Moment peak;
  std::optional<uint64_t> peak_reserved_bytes;
  std::optional<uint64_t> peak_used_bytes;       // by all processes; possibly at another moment than `peak`
  std::optional<uint64_t> peak_requested_bytes;  // highest sum of requested bytes, without rounding
  uint64_t end_bytes = 0;
};

struct Process {
  uint32_t pid = 0;
  uint32_t parent_pid = 0;
  std::string role;  // "main", "worker", ...
  std::string command_line;
  int32_t exit_status = -1;  // from waitpid; -1 = unknown
  uint64_t events = 0;
  uint64_t steps = 0;
  uint64_t peak_bytes = 0;  // highest peak on one device
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
  const model::Framework* framework = &model::PyTorch();
  std::string framework_version;  // "" = unknown
  [[nodiscard]] std::string torch_version() const {
    return framework == &model::PyTorch() ? framework_version : "";
  }
  uint64_t duration_ns = 0;
  bool counts_events = false;  // times are event numbers: model::Run::counts_events
  uint64_t events = 0;

  // The device and process of the answer; empty if nothing was allocated.
  std::string device;
  uint32_t pid = 0;
  std::optional<uint32_t> rank;
  uint32_t others = 0;          // other devices that match the request (device_choice.h)
  std::string about;            // process and device in words: "rank 1 (process 4711), cuda:1"
  std::string failed;           // how the process failed (HowItFailed()); "" if it did not fail
  std::string growth_headline;  // one sentence about growth from step to step; "" = no significant growth
  std::string no_blocks;        // why GPU blocks may be missing (CachingOff()); "" = no known reason
  // The first and last requested step; nullopt = all steps.
  std::optional<std::pair<uint32_t, uint32_t>> step_range;

  Peak peak;
  std::vector<Step> steps;
  std::vector<Owner> owners;                    // by kind, largest first
  std::map<Owner::Kind, uint64_t> owned_bytes;  // bytes of the peak that have an owner of that kind
  std::vector<NamedRange> nvtx_ranges;          // of the process; memory on the device
  std::vector<Moment> moments;                  // the moments requested with --at
  bool blocks_listed = false;                   // true if `moments` contain their blocks
  std::vector<Device> devices;                  // largest peak first
  // Returns the device that the answer describes; nullptr if nothing was allocated.
  [[nodiscard]] const Device* ChosenDevice() const {
    const auto found = std::ranges::find_if(devices, &Device::chosen);
    return found == devices.end() ? nullptr : &*found;
  }
  std::vector<Process> processes;         // in order of start
  std::optional<HostMemory> host_memory;  // of the answer's process and its workers
  std::vector<growth::Growth> growth;     // leaks on the device, most bytes per step first
  std::vector<OutOfMemory> out_of_memory;
  std::vector<model::Hook> coverage;  // by name
  uint64_t dropped_events = 0;
  trace::Damage damage;
  model::Anomalies anomalies;
  std::optional<Savings> savings;  // nullopt if not requested, or if the data do not suffice
  std::vector<std::string> notes;  // sentences that are needed to understand the figures
};

// Returns the index of the answer's device in `run`; kNone if the answer has no device.
[[nodiscard]] model::DeviceIndex DeviceOf(const model::Run& run, const Answer& answer);

}  // namespace vramscope::report
