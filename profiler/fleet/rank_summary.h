// SPDX-License-Identifier: Apache-2.0
// One rank of a job in figures: what `vramscope fleet` compares.
//
// Why figures and not the run: a job of 512 ranks has 512 runs, which do not fit into memory. The figures
// of a step take under 200 bytes, so all ranks fit. Whole traces are read only to explain what differs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/classify/analysis.h"
#include "profiler/classify/category.h"
#include "profiler/model/launch.h"
#include "profiler/timeline/training.h"

namespace vramscope::fleet {

struct StepFigures {
  uint32_t number = 0;  // from 1, also if the file begins with a later step
  uint64_t begin_ns = 0;
  uint64_t end_ns = 0;
  uint64_t peak_bytes = 0;      // allocated
  uint64_t reserved_bytes = 0;  // at that moment; 0 = unknown
  uint64_t end_bytes = 0;       // allocated when it ends

  friend bool operator==(const StepFigures&, const StepFigures&) = default;
};

// Memory that a rank holds on a device other than its own.
struct Elsewhere {
  std::string device;
  uint64_t bytes = 0;
};

enum class Ending : uint8_t { kUnknown, kFinished, kOutOfMemory, kKilled, kFailed, kCutOff };
[[nodiscard]] const char* EndingKey(Ending ending);  // "out_of_memory"
[[nodiscard]] std::optional<Ending> EndingFromKey(std::string_view key);

struct RankSummary {
  std::string file;           // that it was read from
  bool is_snapshot = false;   // of PyTorch: no process, mostly no steps
  bool from_summary = false;  // of a summary file: the trace was not read

  std::optional<uint32_t> rank;
  bool rank_from_name = false;  // of the file: nothing in the file says it
  std::optional<uint32_t> world_size;
  std::string host;  // "" = unknown
  std::string job;   // of the batch system or of torchrun; "" = unknown
  std::string device;
  std::string gpu_uuid;                // "" = unknown
  std::vector<model::MeshPlace> mesh;  // empty = unknown
  uint32_t pid = 0;
  uint32_t part = 0;  // of its recording, from 1 (parts.h); 0 = the file is a whole recording

  uint64_t start_realtime_ns = 0;  // of time 0 of its file, by the clock of its host
  uint64_t last_ns = 0;
  bool counts_events = false;  // times are event numbers

  uint64_t peak_bytes = 0;  // allocated
  uint32_t peak_step = 0;   // 0 = outside all steps
  timeline::Phase peak_phase = timeline::Phase::kOther;
  classify::CategoryBytes categories = {};  // at the peak
  std::optional<uint64_t> reserved_bytes;   // highest
  std::optional<uint64_t> unused_bytes;     // reserved and not allocated, when most was reserved
  std::optional<uint64_t> used_bytes;       // highest of the device, by the driver: all processes
  std::optional<uint64_t> capacity_bytes;   // of the device
  std::optional<uint64_t> outside_bytes;    // the process's own, outside PyTorch's allocator, at the peak
  std::vector<Elsewhere> elsewhere;         // on other GPUs
  // At the end of the file, which is now for a trace that is still written.
  uint64_t last_bytes = 0;  // allocated
  std::optional<uint64_t> last_reserved_bytes;
  std::optional<uint64_t> last_used_bytes;
  uint64_t growth_per_step = 0;  // bytes that leak, growth.h
  std::string growth_line;       // where most of it is allocated
  std::string growth_module;
  uint32_t growth_since = 0;  // its first step

  Ending ending = Ending::kUnknown;
  std::string ending_text;   // "an allocation of 2.0 GiB on cuda:3 failed", "exit 1"; "" = it did not fail
  uint32_t ending_step = 0;  // its last step, finished or not; 0 = it had none

  std::string model;  // the same for ranks whose parameters are alike; "" = unknown
  std::vector<StepFigures> steps;

  // Free on the device at its fullest moment. Without the driver's figures: of what PyTorch may take.
  [[nodiscard]] std::optional<uint64_t> headroom_bytes() const;
  // Whole steps until the headroom is used up; nothing if nothing grows or the headroom is unknown.
  [[nodiscard]] std::optional<uint64_t> steps_left() const;
  // The one that took longest, except the first, which starts up; nullptr without steps or times.
  [[nodiscard]] const StepFigures* slowest_step() const;
  // Its place among ranks that do other work than it: "pp 2", "pp 2, ep 0"; "" = unknown, or all do the same.
  [[nodiscard]] std::string Stage() const;
  // "rank 37 (pp 2, dp 5) on node-09", "cuda:1 of run.vms"
  [[nodiscard]] std::string Name(bool with_host) const;
};

// The ranks of a run: one for each process that used a GPU, without GPUs for each process that trains; a single
// process has one for each of its GPUs. `file`: its path.
[[nodiscard]] std::vector<RankSummary> Summarize(const classify::Analysis& analysis, const std::string& file);

// The same with what a snapshot of PyTorch does not contain: its rank, from the name of the file.
[[nodiscard]] std::vector<RankSummary> SummarizeFile(const classify::Analysis& analysis,
                                                     const std::string& file, bool is_snapshot);

// Ranks of a job in their order: those without a number come last, by file and device.
[[nodiscard]] bool InOrderOfRank(const RankSummary& a, const RankSummary& b);

// The rank that a file name gives: "rank3.pickle", "trace_rank-12.vms", "snapshot_7.pickle". Nothing without a
// number.
[[nodiscard]] std::optional<uint32_t> RankOfName(std::string_view file);

}  // namespace vramscope::fleet
