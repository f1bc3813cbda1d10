// SPDX-License-Identifier: Apache-2.0
// The data of the ranks panel: the answer of `vramscope fleet` for the open files of one job, and a heat map
// of ranks and steps. Computed on another thread.
//
//   step      1  2  3  4  5 ..        A cell shows the peak of a rank in a step.
//   rank 0    .  .  .  .  .           A click on the cell shows this step of this rank.
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

// Returns the indices of all files of the job to which file `shown` belongs, including `shown`. Two files
// belong to one job if they were recorded at the same time, or if they are in one folder and have different
// ranks. The second rule is for dry runs, whose ranks run one after the other, and for snapshots, which have
// no clock. An element of `files` is nullptr while the file is being read.
[[nodiscard]] std::vector<size_t> FilesOfJob(const std::vector<const Document*>& files, size_t shown);

// Where a rank of the job is shown.
struct OpenRank {
  size_t file = 0;    // index of the open file
  size_t device = 0;  // index into Document::devices
};

struct JobAnswer {
  fleet::Job job;
  fleet::HeatMap heat;
  std::vector<OpenRank> places;  // one for each rank of the job
  // For each row of the heat map: why its ranks are outliers, one sentence per line; "" if they are not.
  std::vector<std::string> reasons;
  uint64_t lowest = 0;   // lowest peak of all cells, bytes
  uint64_t highest = 0;  // highest peak of all cells, bytes
};

// `files`: as in FilesOfJob. `of_job`: the result of FilesOfJob.
[[nodiscard]] JobAnswer CompareRanks(const std::vector<const Document*>& files,
                                     const std::vector<size_t>& of_job);

// The step with the highest peak in a cell. A cell may contain several ranks and steps.
struct HeatCell {
  size_t rank = 0;  // index into fleet::Job::ranks
  uint32_t step = 0;
  uint64_t peak_bytes = 0;
};
// Returns nullopt if the cell does not exist or if none of its steps was recorded.
[[nodiscard]] std::optional<HeatCell> CellAt(const JobAnswer& answer, size_t row, size_t column);
// Describes a cell: "rank 1, step 5: peak 2.9 GiB, 408.0 MiB above the median of its peers.", followed by the
// reasons of its row.
[[nodiscard]] std::string CellText(const JobAnswer& answer, size_t row, size_t column);
// Returns the first rank of a finding, and the step at which the finding begins. If it has no such step: the
// step in which the rank ended, or the step of the rank's peak. Returns nullopt if the finding has no rank.
[[nodiscard]] std::optional<HeatCell> CellOf(const JobAnswer& answer, const fleet::Finding& finding);

class JobView {
 public:
  // Call once per frame. Starts the computation if the files have changed. The other thread calls `wake` when
  // the answer is ready. The documents must exist until the next Update or Clear.
  void Update(const std::vector<const Document*>& files, size_t shown, const std::function<void()>& wake);
  // Waits for the other thread and drops the documents. Call before a document is destroyed.
  void Clear() { answer_.Clear(); }
  [[nodiscard]] bool busy() const { return answer_.busy(); }
  // Returns the answer; nullopt while it is being computed.
  [[nodiscard]] const std::optional<JobAnswer>& answer() const { return answer_.answer(); }

 private:
  BackgroundAnswer<std::vector<const Document*>, JobAnswer> answer_;
};

}  // namespace vramscope::viewer
