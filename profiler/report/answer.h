// SPDX-License-Identifier: Apache-2.0
// The answer of `vramscope report`: where memory went, as plain data.
//
// Terminal, JSON, HTML and the viewer print these values and compute nothing. Texts are as recorded: sanitize
// them before printing. docs/json.md describes each field.
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

struct LiveBlock {
  uint64_t number = 0;  // 1-based allocation number in the trace
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint64_t requested_bytes = 0;  // equals `bytes` if unknown
  classify::Category category{};
  classify::Proof proof{};
  std::string name;    // "" = it has no name
  std::string module;  // where it was allocated; "" = unknown
  std::string op;
};

struct Moment {
  std::string asked;    // as requested; "" if the report chose it
  uint64_t events = 0;  // events up to here, as for `--at event:N`
  uint64_t time_ns = 0;
  uint64_t monotonic_ns = 0;  // CLOCK_MONOTONIC of the recording machine
  uint64_t allocated_bytes = 0;
  std::optional<uint64_t> reserved_bytes;
  std::optional<uint64_t> device_used_bytes;  // by all processes, from the driver
  std::optional<DeviceMemory> driver;         // if driver calls were recorded
  uint32_t step = 0;                          // 0 = outside all steps
  timeline::Phase phase = timeline::Phase::kOther;
  classify::CategoryBytes categories = {};  // sums to allocated_bytes
  std::vector<LiveBlock> blocks;            // if they were requested
};

struct Peak : Moment {
  // The highest `reserved_bytes` in the requested steps, or in the run. `reserved_bytes` is the value at this
  // moment.
  std::optional<uint64_t> reserved_peak_bytes;
  // Where the allocation that set the peak was made; "" = unknown.
  std::string module;
  std::string node;
  std::string op;
  uint32_t as_in_step = 0;  // deep step that module and op come from; 0 = the peak itself
};

struct Step {
  uint32_t number = 0;
  uint64_t begin_ns = 0;
  uint64_t end_ns = 0;
  bool complete = true;
  bool deep = false;
  Moment peak;
  uint64_t end_bytes = 0;  // allocated bytes at its end
  uint64_t allocations = 0;
  uint64_t handed_out_bytes = 0;  // sum of all these allocations
};

// Holders of memory at the peak. Each kind of owner divides the same bytes.
struct Owner {
  // A module pattern sums layers: "layers.*.mlp" is layers.0.mlp, layers.1.mlp, ... A name comes from the
  // program: PyTorch's user metadata and annotations, NVTX's memory extension.
  enum class Kind : uint8_t { kModulePattern, kModule, kParameter, kName, kOp, kStack } kind{};
  std::string name;
  uint32_t members = 1;  // number of modules that match the pattern
  uint64_t bytes = 0;
  uint64_t blocks = 0;
  classify::CategoryBytes categories = {};
  std::vector<std::string> frames;  // of a stack, outermost first
};
[[nodiscard]] const char* OwnerKindKey(Owner::Kind kind);

struct Device {
  std::string name;  // "cuda:0"
  uint32_t pid = 0;
  bool chosen = false;  // true: the answer is about this device
  uint64_t allocations = 0;
  Moment peak;
  std::optional<uint64_t> peak_reserved_bytes;
  std::optional<uint64_t> peak_used_bytes;       // of the whole device; possibly at another moment
  std::optional<uint64_t> peak_requested_bytes;  // most requested bytes at one moment, without rounding
  uint64_t end_bytes = 0;
};

struct Process {
  uint32_t pid = 0;
  uint32_t parent_pid = 0;
  std::string role;  // "main", "worker", ...
  std::string command_line;
  int32_t exit_status = -1;  // as waitpid returns it; -1 = unknown
  uint64_t events = 0;
  uint64_t steps = 0;
  uint64_t peak_bytes = 0;  // on the device where it is highest
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
  std::string failed;           // HowItFailed(); "" = it did not fail
  std::string growth_headline;  // growth from step to step; "" = nothing significant
  std::string no_blocks;        // why GPU blocks may be missing: CachingOff(); "" = not known
  std::optional<std::pair<uint32_t, uint32_t>> step_range;  // if only these steps were requested

  Peak peak;
  std::vector<Step> steps;
  std::vector<Owner> owners;                    // by kind, largest first
  std::map<Owner::Kind, uint64_t> owned_bytes;  // bytes of the peak with a known owner of that kind
  std::vector<NamedRange> nvtx_ranges;          // of the process, on the device
  std::vector<Moment> moments;                  // as requested with --at
  bool blocks_listed = false;                   // true: moments list their blocks
  std::vector<Device> devices;                  // largest peak first
  // The device that the answer is about; nullptr if nothing was allocated.
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
  std::optional<Savings> savings;  // if requested, and if the data suffice
  std::vector<std::string> notes;  // needed to understand the figures, one sentence each
};

// The answer's device in its run; kNone: no device.
[[nodiscard]] model::DeviceIndex DeviceOf(const model::Run& run, const Answer& answer);

}  // namespace vramscope::report
