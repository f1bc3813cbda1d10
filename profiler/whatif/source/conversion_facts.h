// SPDX-License-Identifier: Apache-2.0
// What the program's calls of Tensor.to() ask for, as its source says: told beside the operators, by line.
//
//   mark  kConversion   "models/gpt.py:42 type"           x.to(torch.float32) stands there
//                       "models/gpt.py:43 tensor again"   x = x.to(y.dtype)
//                       "models/gpt.py:44 type,origin"    f(y, x.float()).to(x.dtype), in their order
//                       "models/gpt.py:45 type,first"     (x.float() + y).to(x.dtype)
//                       "models/gpt.py:46 origin@39@41"   kind = x.dtype; ...; y.to(kind), where the first
//                       operator of line 39 on floats, or of line 41, is given x
//                       "models/gpt.py:47 tensor@47"      y.sum() / x.to(y.dtype), where the first operator
//                       of the line is given y
//                       "models/gpt.py:48 narrowed"       if weight.dtype in HALF: x = x.to(weight.dtype)
//                       stands before it, and its first operator is given x
//   op    aten::to      kOpCaller "rotate (models/gpt.py:42)"
//
// Why joined here: the source is read once for a file, the operator runs in every layer.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profiler/whatif/source/factory_facts.h"
#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

class ConversionFacts {
 public:
  static constexpr std::string_view kAsked = "asked ";
  // Of either kind of mark; others say nothing of this.
  void AddMark(trace::MarkKind kind, std::string_view name);
  // The name of a mark. One that is not known is left out: it is of a newer recorder.
  void AddMark(std::string_view name);
  // `op`: into Step::ops; `frame`: as the recorder writes it. Of several the first counts.
  void AddCaller(uint32_t op, std::string_view frame);
  // "asked models/gpt.py:45": what is called there in this call of a module (into Step::modules, which may
  // not be there yet) asks for the type of this block. "asked around utils.py:7<train.py:12": what is made of
  // nothing there, outside of modules, or converted at "asked around train.py:12".
  void AddAsked(uint32_t call, uint32_t block, std::string_view what);
  // Sets Op::asks, Op::first and Op::again where both are known, in any order of the two, and Op::asked.
  void Tell(Step& step) const;

 private:
  struct Call {
    Asks asks = Asks::kNotTold;
    bool first = false;
    bool own = false;                // torch.as_tensor(x): it asks for the type that x has
    std::vector<std::string> lines;  // "models/gpt.py:39"
  };
  // Of a line: each of its calls, or one that stands for all.
  struct Fact {
    std::vector<Call> calls;
    bool again = false;
  };
  [[nodiscard]] bool IsOfItsOrigin(const Step& step, uint32_t op, const std::string& line) const;
  static void Tell(const Call& call, Op& op);
  static void TellEach(Step& step, const std::vector<Call>& calls, std::vector<uint32_t>& ops);
  using FirstOfLines = std::map<std::pair<std::string_view, uint32_t>, uint32_t>;
  // By line and call of a module: the first of the operators that `counts` says yes to, of it and its line.
  template <class Counts>
  [[nodiscard]] FirstOfLines FirstOperators(const std::vector<uint32_t>& calls, const Counts& counts) const;
  void TellWhose(Step& step, const std::vector<uint32_t>& calls) const;
  void TellNarrowed(Step& step, const std::vector<uint32_t>& calls) const;

  FactoryFacts factories_;
  std::unordered_map<std::string, Fact> lines_;        // by "models/gpt.py:42"
  std::set<std::string> narrowed_;                     // lines
  std::unordered_map<uint32_t, std::string> callers_;  // by operator: the innermost
  std::unordered_map<std::string, std::unordered_map<uint32_t, uint32_t>> asked_;  // by line and call: block
};

// Whether it is of a call of to() that moves alone, x.to(device, copy=True): the type that it names is x's
// own.
[[nodiscard]] bool OnlyMoves(const Step& step, const Op& op);

}  // namespace vramscope::whatif
