// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/conversion_facts.h"

namespace vramscope::whatif {

void ConversionFacts::AddMark(std::string_view name) {
  const size_t space = name.rfind(' ');
  if (space == std::string_view::npos) return;
  const std::string_view asks = name.substr(space + 1);
  if (asks == "type") lines_[std::string(name.substr(0, space))] = Asks::kType;
  if (asks == "tensor") lines_[std::string(name.substr(0, space))] = Asks::kTensor;
}

// The file may have brackets in its name, the function's name has none.
void ConversionFacts::AddCaller(uint32_t op, std::string_view frame) {
  const size_t open = frame.find(" (");
  if (open == std::string_view::npos || frame.back() != ')') return;
  callers_.emplace_back(op, frame.substr(open + 2, frame.size() - open - 3));
}

void ConversionFacts::Tell(std::vector<Op>& ops) const {
  for (const auto& [op, line] : callers_) {
    if (const auto found = lines_.find(line); found != lines_.end()) ops[op].asks = found->second;
  }
}

}  // namespace vramscope::whatif
