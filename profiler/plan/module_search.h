// SPDX-License-Identifier: Apache-2.0
// Which modules to checkpoint, one by one: the least recomputation with which a step fits.
//
// Why module by module and not by families: layers of one kind need not be worth the same (the last one is
// made again where the peak is), and a family that is guessed wrong costs the whole answer.
//
// Replays decide what fits. What keeps them few are cuts: wherever a set of modules was seen to be too large,
// the bytes alive at that moment can only fall by what each module frees there, added up:
//
//   alive at t, nothing checkpointed     ████████████████████████
//   a frees                                              ▒▒▒▒
//   b frees                                          ▒▒▒▒
//   what {a, b} leaves is at least       ████████████████            > limit: no subset of {a, b} fits
//
// (They free no more together than apart: a tensor that two modules keep is freed by neither alone and waits
// for the later one.) Up to 12 modules all subsets are gone through by their time, so the answer is the best
// there is. With more, modules are taken greedily by what they free at the peak for their time and left out
// where a replay still fits; then sets that take less come from the cuts (module_covers.h), the shortest
// first. When these run out nothing takes less; when replays do, modules are exchanged, and the shortest set
// that was not replayed is the bound of how much less the best could take.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "profiler/plan/judge.h"
#include "profiler/plan/module_covers.h"

namespace vramscope::plan {

inline constexpr size_t kMostExactModules = 12;

struct ModuleChoice {
  const Verdict* verdict = nullptr;
  bool exact = false;
  double least_ns = 0;  // no choice takes less time, for these modules alone; when exact, what this one takes
};

class ModuleSearch {
 public:
  // `families` are names that stand for several modules at once ("all", "every:2").
  ModuleSearch(Judge& judge, std::vector<std::string> modules, std::vector<std::string> families);
  ~ModuleSearch();

  // The cheapest that fits in `limit` together with `others`, which do not checkpoint; nothing when none
  // does.
  std::optional<ModuleChoice> Cheapest(const Changes& others, uint64_t limit);

  // No choice that fits takes less time than this, which is found without a replay; nothing: none fits.
  [[nodiscard]] std::optional<double> AtLeastNs(const Changes& others, uint64_t limit);

  // The value of the lever that checkpoints all of the modules.
  [[nodiscard]] std::string AllOfThem() const { return NameOf(std::vector<bool>(modules_.size(), true)); }
  // The least time that checkpointing can take.
  [[nodiscard]] double LeastNs() const;

 private:
  struct Content;
  Content& ContentFor(const Changes& others);
  const Verdict& With(const Changes& others, const std::vector<bool>& chosen, uint64_t limit);
  std::optional<ModuleChoice> Exact(const Changes& others, Content& content, uint64_t limit);
  std::optional<ModuleChoice> Greedy(const Changes& others, Content& content, uint64_t limit);
  struct Found {
    std::vector<bool> chosen;
    const Verdict* verdict = nullptr;
  };
  std::optional<std::vector<bool>> Next(Covers& covers, double below_ns);
  void Shorten(const Changes& others, Content& content, uint64_t limit, uint64_t end, Found& found);
  void Exchange(const Changes& others, Content& content, uint64_t limit, uint64_t end, Found& found);
  // Nothing that was not found takes less than what it returns.
  double Prove(const Changes& others, Content& content, uint64_t limit, uint64_t end, Found& found);
  [[nodiscard]] std::string NameOf(const std::vector<bool>& chosen) const;
  [[nodiscard]] double TimeOf(const std::vector<bool>& chosen) const;

  Judge& judge_;
  std::vector<std::string> modules_;
  std::vector<double> ns_;  // by module
  uint64_t decisions_;      // that may still be looked at
  std::map<std::vector<bool>, std::string> families_;
  std::map<std::string, std::unique_ptr<Content>> contents_;
};

}  // namespace vramscope::plan
