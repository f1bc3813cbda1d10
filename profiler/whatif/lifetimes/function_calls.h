// SPDX-License-Identifier: Apache-2.0
// The calls of the program's functions within one call of a module, as its operators show them, and what
// their variables hold (function_facts.h).
#pragma once

#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "profiler/whatif/source/function_facts.h"
#include "profiler/whatif/step/step.h"
#include "profiler/whatif/step/viewed_tensors.h"

namespace vramscope::whatif {

class FunctionCalls {
 public:
  // Both must outlive it.
  FunctionCalls(const FunctionFacts& facts, Step& step);
  // Fills step.named.
  void Follow();

 private:
  // A statement gives its variable a value so long before what follows: what its last operator was given,
  // without names, is gone by then.
  static constexpr Position kAssigned = 0.3;

  // Where an operator was called: a line of a function that is known.
  struct Place {
    const Function* function = nullptr;
    int line = 0;
    bool forward = false;  // the function's name is that which modules are called by
    bool itself = false;   // no function that it called did
    uint64_t code = 0;     // of a module's call: the place in the function's code
  };

  // What a variable stands for: a block, or what an operator converts of it, which it hands on in float32.
  struct Value {
    uint32_t block = model::kNone, conversion = model::kNone;
    // The end of the operator that made it, which may be a view; kBefore: not known. Not compared.
    Position since = kBefore;
    bool operator==(const Value& other) const {
      return block == other.block && conversion == other.conversion;
    }
    bool operator<(const Value& other) const {
      return std::pair(block, conversion) < std::pair(other.block, other.conversion);
    }
  };

  // A call of a function that has not returned.
  struct Call {
    Place at;
    Position begin = 0;
    Lines statement;             // the one it is in; none: no line
    std::vector<Value> results;  // what was computed last in it, or each of several that are returned
    bool called = false;         // a module, behind that, of which no caller is told
    bool returned = false;       // a module returned that; nothing was computed behind it
    uint64_t code = 0;           // where it called a module last, in the statement
    std::vector<uint32_t> made;  // operators of the statement
    std::vector<std::vector<Value>> results_of;  // by these: `results` behind each
    uint32_t converted = model::kNone;  // the last one that converts for the function itself; not used yet
    std::set<Value> arguments;          // blocks that were there before, and are used in it
    std::map<std::string_view, Value> variables;
    // Of variables that stand for one of several blocks, or none: those that their statement made.
    std::map<std::string_view, std::vector<uint32_t>> one_of;
  };

  // What goes on in a call of a module, outermost first.
  struct Stack {
    std::vector<Call> calls;
    Position done = 0;  // its last operator's end
    Position next = 0;  // what comes behind its last operator: the begin of another one, or its own end
    Position end = 0;
    bool over = false;  // all of its operators are behind
    // What was computed last in it, or returned by a module, where no function of the program is around that.
    std::vector<Value> last;
    bool is_torchs = false;  // the forward that did
    size_t seen = 0;         // so many of its variables in calls of other modules have been noted
  };

  [[nodiscard]] Place PlaceOf(uint32_t frame);
  // Of calls of modules whose callers are told.
  struct PlacedCall {
    std::vector<Place> places;  // outermost first
    bool of_torch = false;      // called by the forward of one of torch's modules
  };
  void PlaceModules();
  void PassModules(Position until);
  void BeginModule(uint32_t module, const PlacedCall& called);
  void EndModule(uint32_t module);
  void TellMakerOf(const std::vector<Value>& returned, uint32_t module);
  void SeeVariables(uint32_t module, Stack& stack);
  void TurnRound(Stack& stack, const std::vector<Place>& places);
  [[nodiscard]] std::vector<Value> ReturnedBy(uint32_t module);
  [[nodiscard]] static bool IsOfHooks(std::string_view frame);
  [[nodiscard]] static bool IsOfTorch(std::string_view frame);
  // Whether the line that it is called in is known, so that nothing is to be guessed.
  [[nodiscard]] bool IsPlaced(uint32_t module) const;
  void SetNext(Stack& stack, uint32_t function, Position done, uint32_t next) const;
  [[nodiscard]] bool CallsAnother(uint32_t function, uint32_t op) const;
  [[nodiscard]] bool IsWithin(uint32_t inner, uint32_t call) const;
  void Enter(Stack& stack, const std::vector<Place>& places, Position at);
  // Whether it is that of the module, and no function that its forward calls.
  [[nodiscard]] static bool IsForward(const Stack& stack, const Call& call) {
    return &call == &stack.calls.front() && call.at.forward;
  }
  [[nodiscard]] static bool GoesOn(const Call& call, const Place& place);
  void Move(Call& call, int line, Position at);
  static void BeginStatement(Call& call, int line, Lines statement);
  void Complete(Call& call, Position at);
  [[nodiscard]] bool RanAgain(const Call& call) const;
  void PassOver(Call& call, int from, int to, Position at);
  void Give(Call& call, const Given& given, Value value, Position at);
  void Note(Stack& stack, uint32_t op, bool direct);
  [[nodiscard]] bool UsesConverted(const Call& call, const Op& op) const;
  void NoteTaken(const Call& call, const Op& op);
  void NoteArguments(Call& call, uint32_t op);
  void Return(Stack& stack, size_t depth);
  [[nodiscard]] static std::vector<const Returned*> MayHaveReturned(const Call& call);
  [[nodiscard]] static const Returned* HowItReturned(const Call& call);
  [[nodiscard]] bool ReturnsOnlyNamed(const Call& call, const Call& caller);
  void HandBack(const Call& call, Call& caller);
  void KeepTheOthers(const Call& call, const Call& caller);
  void SetResults(const Call& call, Call& caller, std::vector<Value> results);
  [[nodiscard]] std::vector<Value> ResultsOfEach(const Call& call, uint32_t elements) const;
  [[nodiscard]] std::vector<Value> ValuesOf(const Call& call, const Returned& returned);
  [[nodiscard]] std::vector<Value> ResultsOfOp(uint32_t op) const;
  [[nodiscard]] uint32_t ConversionOf(const Operand& operand) const;
  [[nodiscard]] static bool AllSame(const std::vector<Value>& values);
  [[nodiscard]] std::vector<uint32_t> GivenToModules(const Call& call) const;
  void Untold(const std::vector<uint32_t>& ops);
  [[nodiscard]] static bool IsGivenIn(const Lines& statement, const Call& call, std::string_view name);
  [[nodiscard]] Position AssignedLast(const Call& call, const Stack& stack) const;
  [[nodiscard]] static bool IsNamed(const Call& call, uint32_t block);
  [[nodiscard]] Position SeenToGo(const Call& call, std::string_view name, Position since,
                                  Position before) const;
  void NoteOneOf(Call& call, std::string_view name);
  void LetGo(Call& call, const Stack& stack);
  [[nodiscard]] static bool IsGivenBehind(const Call& call, std::string_view name);
  void HoldElsewhere(const Value& value);
  // What a variable stood for when the function called a module; `one`: for one block.
  struct Seen {
    uint32_t call, block;
    bool one;
  };
  [[nodiscard]] std::map<std::pair<uint32_t, uint32_t>, std::vector<Seen>> SeenByName() const;
  void HoldUntilGiven();
  // Behind the last call of the function in which the variable is seen, and which is its last.
  void HoldUntilLastGiven(uint32_t function, const Seen& last, std::string_view name);
  [[nodiscard]] bool HasAStatementEach(uint32_t block, uint32_t op) const;
  // By the function's call: what its variables stood for in calls that it made of modules, in their order.
  struct InCall {
    uint32_t call, name, block;
  };
  [[nodiscard]] std::map<uint32_t, std::vector<InCall>> SeenInCalls() const;
  void NoteSeen(uint32_t function, Stack& stack, Position until);
  // Whether no statement gives the variable anything between that which gave it the block and that of the
  // operator.
  [[nodiscard]] bool IsHandedBack(const Call& call) const;
  [[nodiscard]] bool IsOnlyHolder(const Call& call, std::string_view name) const;
  [[nodiscard]] bool IsShownNext(const Call& call, const Given& given) const;
  [[nodiscard]] Value ReturnedByModule(const Call& call, const Given& given) const;
  [[nodiscard]] uint32_t OnlyCallSince(uint32_t op) const;
  [[nodiscard]] bool IsOfStatement(uint32_t module, uint32_t computed, std::string_view name) const;
  [[nodiscard]] Position AssignedBehind(uint32_t op) const;
  void HoldBehindCalls();
  [[nodiscard]] static Lines StatementOf(const Place& place);
  [[nodiscard]] uint32_t LastBeforeGiven(std::span<const uint32_t> ops, uint32_t call, Position until,
                                         std::string_view name) const;
  [[nodiscard]] bool IsSeenThrough(const Seen& before, const Seen& now, const Given& given) const;
  [[nodiscard]] bool IsKeptBehind(const Seen& before, const Seen& now, std::string_view name) const;
  // `maker`: the operator that made what it is given; `now`: the next call that shows it, if there is one.
  [[nodiscard]] bool IsGivenAtOnce(const Seen& before, uint32_t maker, const Seen* now,
                                   std::string_view name) const;
  void Hold(Value value, Position until);

  const FunctionFacts& facts_;
  std::vector<std::pair<uint32_t, uint32_t>> callers_;  // operator, frame, in the order of the operators
  Step& step_;
  Position now_ = 0;                                  // when the operator begins that is being looked at
  std::vector<Place> placed_;                         // by operator: the outermost that is known
  const std::vector<uint32_t> call_of_;               // by operator: the call of a module that it is in
  std::unordered_map<uint32_t, Place> places_;        // by frame
  std::unordered_map<uint32_t, Stack> stacks_;        // by call of a module
  std::unordered_map<uint32_t, PlacedCall> modules_;  // by call of a module; empty: an older recorder
  uint32_t next_module_ = 0;                          // that has not begun yet
  std::vector<uint32_t> open_modules_;                // of modules_: begun, and not ended
  const std::map<uint32_t, std::vector<InCall>> seen_in_calls_;
  std::vector<Position> held_;                       // by block
  std::vector<Position> unconverted_;                // of these without what may be of a copy
  std::vector<std::map<Position, Position>> since_;  // by block: until when, of what was made at that moment
  // An operator that may have made a copy, and which tensor it did that of (into views_).
  struct Conversion {
    uint32_t op, tensor;
  };
  std::vector<std::vector<Conversion>> conversions_;  // by block, in order
  ViewedTensors views_;
  std::vector<bool> told_;        // by operator: what holds its result is known
  std::vector<bool> for_itself_;  // by operator: of a function that returned something else
  std::vector<bool> elsewhere_;   // by block: no variable of a function alone holds it
};

}  // namespace vramscope::whatif
