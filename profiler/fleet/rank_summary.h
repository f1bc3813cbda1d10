// SPDX-License-Identifier: Apache-2.0
// The figures of one rank of a job, with less than 200 bytes for each step. `vramscope fleet` uses these
// summaries, because the traces of 512 ranks would not fit into memory.
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
  uint32_t number = 0;  // 1-based number of the step in the run
  uint64_t begin_ns = 0;
  uint64_t end_ns = 0;
  uint64_t peak_bytes = 0;      // highest allocated bytes
  uint64_t reserved_bytes = 0;  // reserved bytes when allocated bytes are highest; 0 = unknown
  uint64_t end_bytes = 0;       // allocated bytes at the end of the step

  friend bool operator==(const StepFigures&, const StepFigures&) = default;
};

// Memory of the same process on another GPU.
struct Elsewhere {
  std::string device;
  uint64_t bytes = 0;
};

enum class Ending : uint8_t { kUnknown, kFinished, kOutOfMemory, kKilled, kFailed, kCutOff };
[[nodiscard]] const char* EndingKey(Ending ending);  // such as "out_of_memory"
[[nodiscard]] std::optional<Ending> EndingFromKey(std::string_view key);

struct RankSummary {
  std::string file;           // source file; if the recording has several parts, the part with the peak
  std::string last_file;      // last part of the recording; "" = there is one file
  bool is_snapshot = false;   // true: read from a PyTorch snapshot
  bool from_summary = false;  // true: read from a summary file

  std::optional<uint32_t> rank;
  bool rank_from_name = false;  // true: the rank comes from the file name
  std::optional<uint32_t> world_size;
  std::string host;  // "" = unknown
  std::string job;   // job ID of the batch system or torchrun; "" = unknown
  std::string device;
  std::string gpu_uuid;                // "" = unknown
  std::vector<model::MeshPlace> mesh;  // empty = unknown
  uint32_t pid = 0;
  uint32_t part = 0;  // 1-based number of the part (parts.h); 0 = a whole recording

  uint64_t start_realtime_ns = 0;  // the host's CLOCK_REALTIME when the file begins
  uint64_t last_ns = 0;
  bool counts_events = false;  // true: times are event numbers, not nanoseconds

  uint64_t peak_bytes = 0;  // highest allocated bytes
  uint32_t peak_step = 0;   // 0 = outside all steps
  timeline::Phase peak_phase = timeline::Phase::kOther;
  classify::CategoryBytes categories = {};  // allocated bytes by category at the peak
  std::optional<uint64_t> reserved_bytes;   // highest reserved bytes
  std::optional<uint64_t> unused_bytes;     // reserved minus allocated bytes, at the highest reserved bytes
  std::optional<uint64_t> used_bytes;       // highest device used (glossary), by all processes
  std::optional<uint64_t> capacity_bytes;
  std::optional<uint64_t> outside_bytes;  // bytes of this process outside PyTorch's allocator, at the peak
  std::vector<Elsewhere> elsewhere;       // memory of the process on other GPUs
  // The next three fields are values at the end of the file, or current values if the trace is still being
  // written.
  uint64_t last_bytes = 0;  // allocated bytes
  std::optional<uint64_t> last_reserved_bytes;
  std::optional<uint64_t> last_used_bytes;
  uint64_t growth_per_step = 0;  // leaked bytes per step (growth.h)
  std::string growth_line;       // line of code that allocates most of the leaked bytes
  std::string growth_module;
  uint32_t growth_since = 0;  // first step in which memory grows

  Ending ending = Ending::kUnknown;
  std::string ending_text;   // "an allocation of 2.0 GiB on cuda:3 failed", "exit 1"; "" = it did not fail
  uint32_t ending_step = 0;  // last step, finished or not; 0 = no steps

  std::string model;               // identifies the model by its parameters; "" = unknown
  std::vector<StepFigures> steps;  // sorted by number, each number once

  // Capacity minus the highest used bytes. If used bytes are unknown, capacity minus the highest reserved
  // bytes.
  [[nodiscard]] std::optional<uint64_t> headroom_bytes() const;
  // Number of whole steps until the headroom is used up; nullopt if memory does not grow or the headroom is
  // unknown.
  [[nodiscard]] std::optional<uint64_t> steps_left() const;
  // The slowest step. The first step counts only if it is the only one. nullptr if there are no steps or no
  // times.
  [[nodiscard]] const StepFigures* slowest_step() const;
  // The place in the pipeline and expert dimensions of the mesh: "pp 2", "pp 2, ep 0"; "" if there is none.
  [[nodiscard]] std::string Stage() const;
  // The name for reports: "rank 37 (pp 2, dp 5) on node-09", or "cuda:1 of run.vms" if the rank is unknown.
  [[nodiscard]] std::string Name(bool with_host) const;
};

// Returns one summary for each process that used a GPU. If no process used a GPU, returns one summary for
// each process that trains. For a process whose rank is unknown, returns one summary for each of its GPUs.
[[nodiscard]] std::vector<RankSummary> Summarize(const classify::Analysis& analysis, const std::string& file);

// Like Summarize(), but takes the rank of a PyTorch snapshot from the file name.
[[nodiscard]] std::vector<RankSummary> SummarizeFile(const classify::Analysis& analysis,
                                                     const std::string& file, bool is_snapshot);

// Comparison for sorting: first ranks by number, then summaries without a rank by file and device.
[[nodiscard]] bool InOrderOfRank(const RankSummary& a, const RankSummary& b);

// Returns the rank in a file name such as "rank3.pickle", "trace_rank-12.vms" or "snapshot_7.pickle"; nullopt
// if the name contains no rank.
[[nodiscard]] std::optional<uint32_t> RankOfName(std::string_view file);

}  // namespace vramscope::fleet
