// SPDX-License-Identifier: Apache-2.0
// How long the variables of the program's functions hold what forward computes, as their source says: told
// beside the operators, by line.
//
//   mark  kFunction   "models/gpt.py:10-14 args 11-11=norm 13-13~norm 14-14>y"   lines, and what variables
//   get op    aten::norm  kOpCaller "scale (models/gpt.py:11)"    it is in norm until line 13 is behind
//
// Why: of what autograd keeps, nobody can see when the program would have let go; with a checkpoint, frozen
// parameters or other types that decides what a step takes. Variables that are seen to hold a block while a
// module is called (Step::held) tell of functions that call modules; most helpers call none.
//
// A call of a function begins and ends where the functions that the operators were called in say so: it goes
// on while its caller stays in one line and its own lines go forward, or back within a loop. What follows
// from a line that may have been passed over is not taken for sure.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// Lines of a file, the last one included.
struct Lines {
  int first = 0, last = 0;
  [[nodiscard]] bool Has(int line) const { return first <= line && line <= last; }
  bool operator==(const Lines&) const = default;
};

// What a variable gets in a statement: what its operators compute, what a call returns, which may be one of a
// module, or one of several that the same expression computes: x, y = [f(t) for t in (x, y)].
struct Given {
  enum class What : uint8_t { kResult, kReturned, kOneOfEach, kOther, kNothingKnown, kHeldElsewhere };
  Lines lines;
  What what = What::kNothingKnown;
  bool unsure = false;                 // the statement may be passed over
  std::string name, from;              // kOther: what `from` stands for
  uint32_t element = 0, elements = 1;  // of what is returned or computed
};

// What a function returns in a statement: what a variable stands for, what the operators of the statement
// compute, or anything.
struct Returned {
  Lines lines;
  bool unsure = false;             // the statement may be passed over
  std::vector<std::string> names;  // of several all; kComputed, kAnything: of no variable
  bool kept = false;               // a dict or a list of these, and of nothing else
  static constexpr std::string_view kComputed = "=", kAnything = ".";
};

struct Function {
  Lines lines;
  bool keeps_arguments = false;  // no statement gives one of them something else
  std::vector<Lines> loops;
  std::vector<Given> given;        // in the order of the statements
  std::vector<Returned> returned;  // too
  // Of its variables, as the function lets go of them: arguments, as far as statements give these something,
  // and what statements name, in their order.
  std::vector<std::string> names;
};

// The smallest statement around the line; no line where none gives a variable anything.
[[nodiscard]] Lines StatementAt(const Function& function, int line);

[[nodiscard]] bool IsInLoop(const Function& function, int line);

class FunctionFacts {
 public:
  // The name of a mark. One that is not understood is left out: it is of a newer recorder.
  void AddMark(std::string_view name);
  // A function that the operator was called in, innermost first. `op`: into Step::ops; `text`: the frame's
  // id, and `frame` its text, which must live until Tell().
  void AddCaller(uint32_t op, uint32_t text, std::string_view frame);
  // The same of the innermost of these calls of modules, as trace::MarkKind::kCaller tells it.
  void AddModuleCaller(const std::vector<uint32_t>& open, const uint64_t* mark, std::string_view frame);
  // Fills step.named: operators and calls of modules must be there.
  void Tell(Step& step) const;

 private:
  friend class FunctionCalls;
  std::unordered_map<std::string, std::vector<Function>> files_;
  std::set<std::string> told_;  // files with the lines of a function: each deep step tells all of them
  std::unordered_map<uint32_t, std::string_view> frames_;
  std::vector<std::pair<uint32_t, uint32_t>> callers_;  // operator, frame: of several threads in any order
  struct ModuleCaller {
    uint32_t frame = 0;  // its text's id
    uint64_t place = 0;  // of the call in the function's code
  };
  std::unordered_map<uint32_t, std::vector<ModuleCaller>> module_callers_;  // by call of a module
};

}  // namespace vramscope::whatif
