// SPDX-License-Identifier: Apache-2.0
// All GPUs of all processes of a file on one clock: a strip of allocated memory for each, with those that
// stand out marked.
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
  size_t device = 0;  // index in Document::devices
  std::string name;   // "rank 3", "cuda:1"; "rank 3 cuda:1" if a rank uses several GPUs
  std::string title;  // in full, for a tooltip
  uint64_t peak = 0;
  std::string stands_out;  // one sentence; "" = it does not
};

// In order of ranks, then of devices. Empty if the file has fewer than two GPUs.
[[nodiscard]] std::vector<RankStrip> StripsOf(const Document& document);

// The highest allocated bytes of each column. O(columns log changes).
[[nodiscard]] std::vector<uint64_t> StripColumns(const Document& document, const DeviceView& device,
                                                 const TimeView& view, size_t columns);

// The strips of the shown document, and their columns while nothing changes.
class RankStripsView {
 public:
  void Update(const Document& document);
  // Forgets the document; call before it is destroyed.
  void Forget() { *this = {}; }
  [[nodiscard]] const std::vector<RankStrip>& strips() const { return strips_; }
  // The highest peak of all: every strip has this scale.
  [[nodiscard]] uint64_t top() const { return top_; }
  [[nodiscard]] const std::vector<uint64_t>& Columns(size_t strip, const TimeView& view, size_t columns);

 private:
  struct Cached {
    TimeView view;
    std::vector<uint64_t> columns;
  };
  const Document* document_ = nullptr;
  std::vector<RankStrip> strips_;
  std::vector<Cached> cache_;
  uint64_t top_ = 1;
};

}  // namespace vramscope::viewer
