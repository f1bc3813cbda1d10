// SPDX-License-Identifier: Apache-2.0
// The change of live bytes between two moments (second minus first), by category and by line of code. A block
// that is alive at both moments does not count.
#pragma once

#include <string>
#include <vector>

#include "profiler/report/owners.h"
#include "viewer/model/document.h"

namespace vramscope::viewer {

struct ChangeOfLine {
  std::string name;
  int64_t bytes = 0;
  int64_t blocks = 0;
};

struct RangeChange {
  // In the order of the timeline, without categories that did not change.
  std::vector<std::pair<classify::Category, int64_t>> categories;
  std::vector<ChangeOfLine> lines;  // largest change first
  int64_t bytes = 0;
};

[[nodiscard]] RangeChange ChangeBetween(const Document& document, const DeviceView& device,
                                        model::EventIndex first, model::EventIndex last);

class RangeChangeView {
 public:
  const RangeChange& Of(const Document& document, const DeviceView& device, model::EventIndex first,
                        model::EventIndex last);

 private:
  const DeviceView* device_ = nullptr;
  model::EventIndex first_ = 0;
  model::EventIndex last_ = 0;
  RangeChange change_;
};

}  // namespace vramscope::viewer
