// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/conversion_facts.h"

namespace vramscope::whatif {

void ConversionFacts::AddMark(std::string_view name) {
  constexpr std::string_view kAgain = " again";
  const bool again = name.ends_with(kAgain);
  if (again) name.remove_suffix(kAgain.size());
  for (const auto& [word, asks] : {std::pair(" type", Asks::kType), std::pair(" tensor", Asks::kTensor),
                                   std::pair(" origin", Asks::kOrigin)}) {
    if (!name.ends_with(word)) continue;
    name.remove_suffix(std::string_view(word).size());
    lines_[std::string(name)] = {asks, again};
    return;
  }
}

// The file may have brackets in its name, the function's name has none.
void ConversionFacts::AddCaller(uint32_t op, std::string_view frame) {
  const size_t open = frame.find(" (");
  if (open == std::string_view::npos || frame.back() != ')') return;
  callers_.try_emplace(op, frame.substr(open + 2, frame.size() - open - 3));  // else one around it
}

void ConversionFacts::Tell(std::vector<Op>& ops) const {
  for (const auto& [op, line] : callers_) {
    if (const auto found = lines_.find(line); found != lines_.end())
      ops[op].asks = found->second.asks, ops[op].again = found->second.again;
  }
}

}  // namespace vramscope::whatif
