// SPDX-License-Identifier: Apache-2.0
// What type the program asks for where it makes tensors of nothing, as its source says: told beside the
// operators, by line.
//
//   mark  kFactory    "models/gpt.py:42 type"         torch.zeros(n, dtype=torch.float32) stands there
//                     "models/gpt.py:43 tensor"       torch.zeros(n, dtype=x.dtype)
//                     "models/gpt.py:44 tensor@51"    where x is what the first operator of line 51 is given
//                     "models/gpt.py:44 tensor@51@53"  or of line 53, where that does not run
//                     "models/gpt.py:45 -,type"       two of them, in their order; nothing is known of the
//                     one
//                     "utils.py:7<models/gpt.py:46 type"  in utils.py, where it is called from that line;
//                     other lines that are told, tensor@51, are of the calling file
//   op    aten::zeros kOpCaller "scan (models/gpt.py:42)"
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

class FactoryFacts {
 public:
  // The name of a mark. One that is not known is left out: it is of a newer recorder.
  void AddMark(std::string_view name);
  // `op`: into Step::ops; `frame`: as the recorder writes it. Of several the first two count.
  void AddCaller(uint32_t op, std::string_view frame);
  // What is made of nothing in the line of a mark, from here on, asks for the type of this block. Told
  // between the operators in their order.
  void AddAsked(std::string_view line, uint32_t block);
  // Sets Op::asks, and Op::asked where the line is told that shows what is asked, and no module's argument
  // was. Behind ConversionFacts::Tell(), which says that of all operators of a line.
  void Tell(Step& step) const;
  // The block that was told last of the line before the operator; kNone: none was.
  [[nodiscard]] uint32_t AskedAround(std::string_view line, uint32_t op) const;

 private:
  struct Fact {
    Asks asks = Asks::kNotTold;
    std::vector<std::string> lines;  // "models/gpt.py:51"
  };

  std::unordered_map<std::string, std::vector<Fact>> lines_;
  // By line: the operator that was there when it was told, and the block.
  std::unordered_map<std::string, std::vector<std::pair<uint32_t, uint32_t>>> asked_;
  struct Caller {
    std::string line, both;  // the innermost, and with the one that it was called from
  };
  std::map<uint32_t, Caller> callers_;  // by operator, in their order
};

// "models/gpt.py:51" and ":53" of "@51@53", the end of a word of a mark of that file.
[[nodiscard]] std::vector<std::string> LinesBehind(std::string_view file, std::string_view numbers);

// Whether it makes a tensor of a type that the program names, whatever it is given: aten::zeros,
// aten::zeros_like.
[[nodiscard]] bool IsFactory(std::string_view op);

}  // namespace vramscope::whatif
