// SPDX-License-Identifier: Apache-2.0
// A program that a test writes down by hand, with the lines of functions in which operators are called.
#pragma once

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "profiler/whatif/answer/predict.h"
#include "profiler/whatif/lifetimes/holders.h"
#include "profiler/whatif/testing/tensor_script.h"

namespace vramscope::whatif {

inline constexpr uint64_t kProgramBytes = 1024 * 64 * 4;

// Lines from here on are of functions that the module's forward calls.
inline constexpr int kHelpers = 30;

// A module, "net", that runs three times in deep steps. `function`: what is told of the lines of net.py.
class Program : public TensorScript {
 public:
  Program(std::initializer_list<const char*> functions, const std::function<void(Program&)>& body) {
    s.Device(model::testing::kCuda0).TotalsAre(0, 2 << 20);
    s.Alloc("x", kProgramBytes);
    s.Mark(trace::MarkKind::kDeepBegin, 1);
    for (const char* const function : functions)
      s.Mark(trace::MarkKind::kFunction, 0, std::string("net.py:") + function);
    for (int call = 1; call <= 3; ++call) s.Module("", [&] { s.Module("net", [&] { body(*this); }); });
    run_ = s.Load();
    analysis_.emplace(run_);
    step_ = ReadStep(*analysis_, 0).value();
  }

  // An operator that makes a block, called in these lines of net.py, innermost first.
  void Make(const char* result, std::initializer_list<int> lines,
            std::initializer_list<const char*> from = {"x"}) {
    s.Op("aten::mul", [&] {
      Operands(from, lines);
      s.Alloc(result, kProgramBytes);
      Out(result, "1024,64", "64,1");
    });
    names_.push_back(result);
  }
  // x.to(torch.float32), which hands on what it is given.
  void To(const char* block, int line, int caller = 0, uint64_t tensor = kFirstTensor) {
    s.Op("aten::to", [&] {
      In(block, "1024,64", "64,1", 0, tensor);
      caller == 0 ? Operands({}, {line}) : Operands({}, {line, caller});
      Out(block, "1024,64", "64,1", tensor);
    });
  }
  // x.view(...), which is another tensor.
  void View(const char* block, uint64_t tensor, int line) {
    s.Op("aten::view", [&] {
      Operands({block}, {line});
      Out(block, "1024,64", "64,1", tensor);
    });
  }
  // The same of a tensor in the host's memory.
  void ToOnHost(int line) {
    s.Op("aten::to", [&] {
      for (const uint64_t flags : {uint64_t{0}, uint64_t{trace::kTensorIsOutput}})
        s.Event(trace::EventType::kOpTensor,
                {flags, 0, 8, 1, 0, s.trace().Intern("1024,64"), s.trace().Intern("64,1"), 6});
      Operands({}, {line});
    });
  }
  void End() {
    for (const char* const name : names_) s.Free(name);
    names_.clear();
  }

  // By operator of the module's call, counted from 1, in the last step: the first one that begins when
  // nothing holds the block any more which the operator `maker` made; 0: no variable was seen to hold it.
  [[nodiscard]] uint32_t HeldUntil(uint32_t maker) const { return UntilOf(maker, &Named::until); }
  // That moment.
  [[nodiscard]] Position NamedUntil(uint32_t maker) const {
    const uint32_t block = OutputsOf(step_, step_.ops[maker - 1])[0].block;
    const auto named = std::ranges::find(step_.named, block, &Named::block);
    return named == step_.named.end() ? kBefore : named->until;
  }
  // The same without what may hold a copy of it.
  [[nodiscard]] uint32_t UnconvertedUntil(uint32_t maker) const {
    return UntilOf(maker, &Named::unconverted);
  }
  // Whether nothing holds what the one operator made when what the other one made was seen to go.
  [[nodiscard]] bool GoesBefore(uint32_t maker, uint32_t other) const {
    const uint32_t block = OutputsOf(step_, step_.ops[maker - 1])[0].block;
    const Position gone = step_.blocks[OutputsOf(step_, step_.ops[other - 1])[0].block].end;
    return std::any_of(step_.named.begin(), step_.named.end(),
                       [&](const Named& named) { return named.block == block && named.until < gone; });
  }
  // Whether no other variable holds it, for sure.
  [[nodiscard]] bool AllKnown(uint32_t maker) const {
    const uint32_t block = OutputsOf(step_, step_.ops[maker - 1])[0].block;
    return std::any_of(step_.named.begin(), step_.named.end(),
                       [&](const Named& named) { return named.block == block && named.all; });
  }
  // HeldUntil of variables that hold it as it was before the other operator.
  [[nodiscard]] uint32_t AsMadeUntil(uint32_t maker, uint32_t before) const {
    const uint32_t block = OutputsOf(step_, step_.ops[maker - 1])[0].block;
    return FirstBehind(NamedAsMadeBefore(step_, block, step_.ops[before - 1].begin));
  }
  // HeldUntil of what that operator converts.
  [[nodiscard]] uint32_t ConvertedUntil(uint32_t op) const { return FirstBehind(step_.ops[op - 1].named); }
  // HeldUntil of the function that called it.
  [[nodiscard]] uint32_t LeftBehind(uint32_t op) const { return FirstBehind(step_.ops[op - 1].left); }
  // Whether what it converts goes into the operator behind it alone.
  [[nodiscard]] bool Taken(uint32_t op) const { return step_.ops[op - 1].taken; }

 private:
  [[nodiscard]] uint32_t UntilOf(uint32_t maker, Position Named::*until) const {
    const uint32_t block = OutputsOf(step_, step_.ops[maker - 1])[0].block;
    for (const Named& named : step_.named)
      if (named.block == block) return FirstBehind(named.*until);
    return 0;
  }
  [[nodiscard]] uint32_t FirstBehind(Position until) const {
    uint32_t next = 0;
    while (next < step_.ops.size() && step_.ops[next].begin < until) ++next;
    return until == kBefore ? 0 : next + 1;
  }
  void Operands(std::initializer_list<const char*> blocks, std::initializer_list<int> lines) {
    uint64_t argument = 0;
    for (const char* const block : blocks) In(block, "1024,64", "64,1", argument++);
    for (const int line : lines)
      s.Event(trace::EventType::kOpScalar,
              {trace::kOpCaller, s.trace().Intern((line < kHelpers ? "Net.forward (net.py:" : "f (net.py:") +
                                                  std::to_string(line) + ")")});
  }

  std::vector<const char*> names_;
  model::Run run_;
  std::optional<classify::Analysis> analysis_;
  Step step_;
};

}  // namespace vramscope::whatif
