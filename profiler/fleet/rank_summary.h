// SPDX-License-Identifier: Apache-2.0
// The figures of one rank of a job, less than 200 bytes for each step. Why not the runs themselves: 512 would
// not fit into memory.
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
  uint32_t number = 0;  // 1-based in the run
  uint64_t begin_ns = 0;
  uint64_t end_ns = 0;
  uint64_t peak_bytes = 0;      // allocated
  uint64_t reserved_bytes = 0;  // at the peak; 0 = unknown
  uint64_t end_bytes = 0;       // allocated at the end of the step

  friend bool operator==(const StepFigures&, const StepFigures&) = default;
};

// Memory on another device.
struct Elsewhere {
  std::string device;
  uint64_t bytes = 0;
};

enum class Ending : uint8_t { kUnknown, kFinished, kOutOfMemory, kKilled, kFailed, kCutOff };
[[nodiscard]] const char* EndingKey(Ending ending);  // "out_of_memory"
[[nodiscard]] std::optional<Ending> EndingFromKey(std::string_view key);

struct RankSummary {
  std::string file;           // source file; of several parts, the file with the peak
  std::string last_file;      // the last part; "" = one file
  bool is_snapshot = false;   // from a PyTorch snapshot
  bool from_summary = false;  // from a summary file

  std::optional<uint32_t> rank;
  bool rank_from_name = false;  // from the file name
  std::optional<uint32_t> world_size;
  std::string host;  // "" = unknown
  std::string job;   // job ID of the batch system or torchrun; "" = unknown
  std::string device;
  std::string gpu_uuid;                // "" = unknown
  std::vector<model::MeshPlace> mesh;  // empty = unknown
  uint32_t pid = 0;
  uint32_t part = 0;  // 1-based (parts.h); 0 = a whole recording

  uint64_t start_realtime_ns = 0;  // CLOCK_REALTIME of the host at time 0 of the file
  uint64_t last_ns = 0;
  bool counts_events = false;  // times are event numbers

  uint64_t peak_bytes = 0;  // allocated
  uint32_t peak_step = 0;   // 0 = outside all steps
  timeline::Phase peak_phase = timeline::Phase::kOther;
  classify::CategoryBytes categories = {};  // at the peak
  std::optional<uint64_t> reserved_bytes;   // highest
  std::optional<uint64_t> unused_bytes;     // reserved but not allocated, when reserved was highest
  std::optional<uint64_t> used_bytes;       // highest use of the device by all processes
  std::optional<uint64_t> capacity_bytes;
  std::optional<uint64_t> outside_bytes;  // of this process at the peak, outside PyTorch's allocator
  std::vector<Elsewhere> elsewhere;       // on other GPUs
  // At the end of the file, or now if the trace is still being written.
  uint64_t last_bytes = 0;  // allocated
  std::optional<uint64_t> last_reserved_bytes;
  std::optional<uint64_t> last_used_bytes;
  uint64_t growth_per_step = 0;  // leaked bytes per step (growth.h)
  std::string growth_line;       // line that allocates most of these bytes
  std::string growth_module;
  uint32_t growth_since = 0;  // first step that grows

  Ending ending = Ending::kUnknown;
  std::string ending_text;   // "an allocation of 2.0 GiB on cuda:3 failed", "exit 1"; "" = it did not fail
  uint32_t ending_step = 0;  // last step, finished or not; 0 = no steps

  std::string model;               // equal for equal parameters; "" = unknown
  std::vector<StepFigures> steps;  // sorted by number, each number once

  // Capacity minus the highest used bytes. Without used bytes: minus the highest reserved bytes.
  [[nodiscard]] std::optional<uint64_t> headroom_bytes() const;
  // Whole steps until the headroom is used up; nullopt if nothing grows or the headroom is unknown.
  [[nodiscard]] std::optional<uint64_t> steps_left() const;
  // The slowest step, without the first if there are others. nullptr without steps or times.
  [[nodiscard]] const StepFigures* slowest_step() const;
  // "pp 2", "pp 2, ep 0"; "" if unknown or without stages.
  [[nodiscard]] std::string Stage() const;
  // "rank 37 (pp 2, dp 5) on node-09", "cuda:1 of run.vms"
  [[nodiscard]] std::string Name(bool with_host) const;
};

// One summary for each process that used a GPU, or else for each process that trains. If the rank of a
// process is unknown, one summary for each of its GPUs.
[[nodiscard]] std::vector<RankSummary> Summarize(const classify::Analysis& analysis, const std::string& file);

// Like Summarize(). The rank of a PyTorch snapshot comes from the file name.
[[nodiscard]] std::vector<RankSummary> SummarizeFile(const classify::Analysis& analysis,
                                                     const std::string& file, bool is_snapshot);

// For sorting: ranks by number, then ranks without a number by file and device.
[[nodiscard]] bool InOrderOfRank(const RankSummary& a, const RankSummary& b);

// The rank in a file name: "rank3.pickle", "trace_rank-12.vms", "snapshot_7.pickle". nullopt without a
// number.
[[nodiscard]] std::optional<uint32_t> RankOfName(std::string_view file);

}  // namespace vramscope::fleet
