// SPDX-License-Identifier: Apache-2.0
// Finds the set of modules to checkpoint with which a step fits in the memory limit and recomputes least.
//
// Each module is decided on its own, because equal layers can save different amounts. For example, the last
// layer is recomputed at the peak.
//
// A replay with the model of the allocator decides whether a set fits. If a set does not fit, the moment of
// its peak is kept as a cut. At a cut, each module of a set lowers the live bytes at most by the bytes that
// it frees alone:
//
//   alive at t, nothing checkpointed     ████████████████████████
//   a frees                                              ▒▒▒▒
//   b frees                                          ▒▒▒▒
//   alive with {a, b} at least           ████████████████            > limit: no subset of {a, b} fits
//
// With up to 12 modules, all sets are tried in order of their recomputation time. The answer is then optimal.
// With more modules, the search has three parts:
//
//   1. Greedy: adds the module that frees the most bytes at the peak per unit of time, until a replay fits.
//      Afterwards removes each module without which a replay still fits.
//   2. Cuts: module_covers.h lists the sets that take less time than the best set so far and that no cut
//      rules out, the shortest time first. Each set is replayed. If no set remains, the answer is optimal.
//   3. If the allowed number of replays is used up before no set remains, up to two modules of the best set
//      are exchanged for others. The shortest set that was not replayed gives a lower bound for the optimal
//      time.
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
  bool exact = false;   // true if the choice is optimal
  double least_ns = 0;  // lower bound for the time of every choice that fits
};

class ModuleSearch {
 public:
  // `modules`: names of the modules that may be checkpointed. `families`: names for several modules at once
  // ("all", "every:2").
  ModuleSearch(Judge& judge, std::vector<std::string> modules, std::vector<std::string> families);
  ~ModuleSearch();

  // Returns the choice with the least recomputation time that fits in `limit` bytes together with the changes
  // `others`. `others` must not contain checkpoints. Returns nullopt if no choice fits.
  std::optional<ModuleChoice> Cheapest(const Changes& others, uint64_t limit);

  // Returns a lower bound for the time of every choice that fits, without a replay; nullopt if no choice
  // fits.
  [[nodiscard]] std::optional<double> AtLeastNs(const Changes& others, uint64_t limit);

  // Returns the value of the change "checkpoint" that checkpoints all modules.
  [[nodiscard]] std::string AllOfThem() const { return NameOf(std::vector<bool>(modules_.size(), true)); }
  // Returns the recomputation time of the module with the least time.
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
  // Returns a lower bound for the time of every choice that was not found.
  double Prove(const Changes& others, Content& content, uint64_t limit, uint64_t end, Found& found);
  [[nodiscard]] std::string NameOf(const std::vector<bool>& chosen) const;
  [[nodiscard]] double TimeOf(const std::vector<bool>& chosen) const;

  Judge& judge_;
  std::vector<std::string> modules_;
  std::vector<double> ns_;  // recomputation time of each module
  uint64_t decisions_;      // number of decisions that may still be visited
  std::map<std::vector<bool>, std::string> families_;
  std::map<std::string, std::unique_ptr<Content>> contents_;
};

}  // namespace vramscope::plan
