// SPDX-License-Identifier: Apache-2.0
// The ranks panel: the answer of `vramscope fleet` for the open files of one job. Includes a heat map of
// ranks and steps. Computed on a thread.
//
//   step      1  2  3  4  5 ..        a cell is the peak of a rank in a step;
//   rank 0    .  .  .  .  .           it leads to this step of this rank
//   rank 1    .  .  #  #  #    <- "rank 1 peaks 408.0 MiB above its peers (+16 %), since step 3."
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "profiler/fleet/heat_map.h"
#include "profiler/fleet/job.h"
#include "viewer/model/background_task.h"
#include "viewer/model/document.h"

namespace vramscope::viewer {

// The indices of the open files of the job of `shown`, itself included. Files are of one job if recorded at
// the same time, or if in one folder and of different ranks. The second rule is for dry runs (ranks run one
// after the other) and snapshots (no clock). An entry of `files` is nullptr while it is read.
[[nodiscard]] std::vector<size_t> FilesOfJob(const std::vector<const Document*>& files, size_t shown);

struct OpenRank {
  size_t file = 0;    // of the open files
  size_t device = 0;  // in Document::devices
};

struct JobAnswer {
  fleet::Job job;
  fleet::HeatMap heat;
  std::vector<OpenRank> places;  // by rank of the job
  // By row of the heat map: why its ranks stand out, one sentence a line; "" = they do not.
  std::vector<std::string> reasons;
  uint64_t lowest = 0;  // of all cells
  uint64_t highest = 0;
};

// `files` as above; `of_job`: what FilesOfJob returned.
[[nodiscard]] JobAnswer CompareRanks(const std::vector<const Document*>& files,
                                     const std::vector<size_t>& of_job);

// The fullest of a cell's steps.
struct HeatCell {
  size_t rank = 0;  // of the job
  uint32_t step = 0;
  uint64_t peak_bytes = 0;
};
[[nodiscard]] std::optional<HeatCell> CellAt(const JobAnswer& answer, size_t row, size_t column);
// "rank 1, step 5: peak 2.9 GiB, 408.0 MiB above the median of its peers."; then the row's reasons.
[[nodiscard]] std::string CellText(const JobAnswer& answer, size_t row, size_t column);
// The cell of a finding: its first rank, at the step where it begins, ends or peaks. Nothing if no file has
// these ranks.
[[nodiscard]] std::optional<HeatCell> CellOf(const JobAnswer& answer, const fleet::Finding& finding);

class JobView {
 public:
  // Documents must live until the next Update or Clear. Calls `wake` when there is an answer.
  void Update(const std::vector<const Document*>& files, size_t shown, const std::function<void()>& wake);
  // Forgets the documents; call before one is destroyed. Waits for the thread.
  void Clear() { answer_.Clear(); }
  [[nodiscard]] bool busy() const { return answer_.busy(); }
  // Nothing while it is being computed.
  [[nodiscard]] const std::optional<JobAnswer>& answer() const { return answer_.answer(); }

 private:
  BackgroundAnswer<std::vector<const Document*>, JobAnswer> answer_;
};

}  // namespace vramscope::viewer
