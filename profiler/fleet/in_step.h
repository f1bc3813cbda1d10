// SPDX-License-Identifier: Apache-2.0
// Visits the steps of many ranks in order of the step number. One visit contains the step of every rank that
// has it.
//
//   rank 0   1 2 3 4          visits   1: {rank 0, rank 1}   2: {rank 0, rank 1}   3: {rank 0}   ...
//   rank 1   1 2   4 5
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace vramscope::fleet {

// Each series is the list of steps of one rank. Calls visit(number, elements) once for each step number that
// occurs in at least one series, in ascending order. `elements` are pointers to the elements with this
// number, in the order of `series`. Each series must be sorted by number_of(element) and must have no
// duplicate numbers.
template <typename Element, typename NumberOf, typename Visit>
void InStep(const std::vector<const std::vector<Element>*>& series, NumberOf number_of, Visit visit) {
  std::vector<typename std::vector<Element>::const_iterator> next;
  for (const auto* one : series) next.push_back(one->begin());
  std::vector<const Element*> elements;
  for (;;) {
    std::optional<uint32_t> number;
    for (size_t i = 0; i < series.size(); ++i)
      if (next[i] != series[i]->end())
        number = std::min(number.value_or(number_of(*next[i])), number_of(*next[i]));
    if (!number.has_value()) return;
    elements.clear();
    for (size_t i = 0; i < series.size(); ++i)
      if (next[i] != series[i]->end() && number_of(*next[i]) == *number) elements.push_back(&*next[i]++);
    visit(*number, elements);
  }
}

}  // namespace vramscope::fleet
