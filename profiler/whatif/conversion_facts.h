// SPDX-License-Identifier: Apache-2.0
// What the program's calls of Tensor.to() ask for, as its source says: told beside the operators, by line.
//
//   mark  kConversion   "models/gpt.py:42 type"           x.to(torch.float32) stands there
//                       "models/gpt.py:43 tensor again"   x = x.to(y.dtype)
//   op    aten::to      kOpCaller "rotate (models/gpt.py:42)"
//
// Why joined here: the source is read once for a file, the operator runs in every layer.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profiler/whatif/step.h"

namespace vramscope::whatif {

class ConversionFacts {
 public:
  // The name of a mark. One that is not known is left out: it is of a newer recorder.
  void AddMark(std::string_view name);
  // `op`: into Step::ops; `frame`: as the recorder writes it. Of several the first counts.
  void AddCaller(uint32_t op, std::string_view frame);
  // Sets Op::asks and Op::again where both are known, in any order of the two.
  void Tell(std::vector<Op>& ops) const;

 private:
  struct Fact {
    Asks asks;
    bool again;
  };
  std::unordered_map<std::string, Fact> lines_;        // by "models/gpt.py:42"
  std::unordered_map<uint32_t, std::string> callers_;  // by operator: the innermost
};

}  // namespace vramscope::whatif
