// SPDX-License-Identifier: Apache-2.0
// Decides which parts of a trace `vramscope record --keep` leaves on the disk. A part is a trace of some
// consecutive steps; the recorder starts a new part when the current part reaches a given size.
//
//   run.vms                  the last part, with the end of the run
//   run.part1.vms            --keep summary: the first part, with the deep steps
//   run.part12.vms           --keep summary: a part with a step that differs from earlier steps
//   run.part12.vms           --keep ring: one of the latest parts that fit into the given size
//   run.parts.vms.summary    the figures of all steps before the last part
//
// `vramscope fleet` combines these files (profiler/fleet/parts.h). During the run, a thread reads each
// complete part, adds its figures to the summary, and removes the parts that are not kept.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "profiler/cli/frame/arguments.h"
#include "profiler/collector/launch/record.h"
#include "profiler/fleet/rank_summary.h"
#include "trace_format/result.h"

namespace vramscope::cli {

struct Keep {
  enum class What : uint8_t { kFull, kSummary, kRing } what = What::kFull;
  uint64_t most_bytes = 0;  // limit for the kept parts on disk
  uint64_t part_bytes = 0;  // size at which a new part starts
};
// Reads --keep.
[[nodiscard]] Result<Keep> KeepFrom(const Arguments& arguments);

class KeptParts {
 public:
  explicit KeptParts(const Keep& keep) : keep_(keep) {}
  KeptParts(const KeptParts&) = delete;
  KeptParts& operator=(const KeptParts&) = delete;
  ~KeptParts() { Finish(); }

  // Sets the recorder's options for parts. Does nothing for kFull.
  void Prepare(collector::RecordOptions& options);
  // Waits until all complete parts are read. Call after the recording.
  void Finish();
  // Returns a sentence about kept and removed parts; "" if the whole run is in one file.
  [[nodiscard]] std::string Line(const std::string& trace) const;

 private:
  struct Part {
    std::string path;
    uint64_t bytes = 0;
  };
  void Take(const std::string& path);
  void Work();
  void Read(const std::string& path);
  [[nodiscard]] bool HasStepThatDiffers(const std::vector<fleet::RankSummary>& ranks) const;
  void Decide(const std::string& path, bool differs);
  void Remove(const Part& part);

  Keep keep_;
  std::thread worker_;
  std::mutex mutex_;
  std::condition_variable news_;
  std::deque<std::string> waiting_;
  bool ending_ = false;

  // Only the worker thread uses these members. After Finish(), other threads may use them.
  std::vector<fleet::RankSummary> history_;
  std::string history_path_;
  std::deque<Part> kept_;
  uint64_t kept_bytes_ = 0;
  uint64_t removed_ = 0;
  uint64_t removed_that_differ_ = 0;
  std::string trouble_;  // the first error
};

}  // namespace vramscope::cli
