// SPDX-License-Identifier: Apache-2.0
// Shows all GPUs of a job on one time axis: a strip of allocated memory for each GPU. Outliers are marked. A
// job consists of the shown file and all open files that were recorded at the same time.
//
//   rank 0  ▁▃▇▃▁▃▇▃▁   8.0 GiB
//   rank 1  ▁▃▇▃▁▃▇▃▁   8.0 GiB
//   rank 2  ▁▄█▄▁▄█▄▁  11.2 GiB   stands out: the median is 8.0 GiB
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "viewer/model/document.h"
#include "viewer/model/time_view.h"

namespace vramscope::viewer {

struct RankStrip {
  const Document* document = nullptr;
  size_t file = 0;      // index of the document
  size_t device = 0;    // index in Document::devices
  double later_ns = 0;  // add this value to a time of the shown file to get this file's time
  std::string name;     // "rank 3", "cuda:1"; "rank 3 cuda:1" if a rank uses several GPUs
  std::string title;    // longer name, for a tooltip
  uint64_t peak = 0;
  std::string stands_out;  // one sentence; "" if the GPU is not an outlier
};

// True if both files were recorded at the same time, according to their machines' clocks, and neither is a
// copy of the other.
[[nodiscard]] bool AtSameTime(const Document& a, const Document& b);

// Returns the strips, ordered by rank, file, process and device. `files`: the open files; nullptr for files
// that are still being read. `shown`: index of the shown file. Empty for fewer than two GPUs.
[[nodiscard]] std::vector<RankStrip> StripsOf(const std::vector<const Document*>& files, size_t shown);

// Returns the highest allocated bytes in each column of a view. O(columns log changes).
[[nodiscard]] std::vector<uint64_t> StripColumns(const RankStrip& strip, const TimeView& view,
                                                 size_t columns);

// The strips of the shown file, with cached columns.
class RankStripsView {
 public:
  void Update(const std::vector<const Document*>& files, size_t shown);
  // Drops all references to the documents. Call before a document is destroyed.
  void Forget() { *this = {}; }
  [[nodiscard]] const std::vector<RankStrip>& strips() const { return strips_; }
  // Returns the highest peak of all strips, which is the scale of every strip.
  [[nodiscard]] uint64_t top() const { return top_; }
  [[nodiscard]] const std::vector<uint64_t>& Columns(size_t strip, const TimeView& view, size_t columns);

 private:
  struct Cached {
    TimeView view;
    std::vector<uint64_t> columns;
  };
  std::vector<const Document*> files_;
  size_t shown_ = 0;
  std::vector<RankStrip> strips_;
  std::vector<Cached> cache_;
  uint64_t top_ = 1;
};

}  // namespace vramscope::viewer
