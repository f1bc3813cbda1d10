// SPDX-License-Identifier: Apache-2.0
// Finds the modules to checkpoint, one by one, so that a step fits with the least recomputation.
//
// Layers of one kind differ in what they save. For example, the last layer is recomputed at the peak.
//
// Replays decide what fits. A cut is a moment at which a replayed set needed too much memory. There, each
// module lowers the live bytes at most by its own bytes:
//
//   alive at t, nothing checkpointed     ████████████████████████
//   a frees                                              ▒▒▒▒
//   b frees                                          ▒▒▒▒
//   what {a, b} leaves is at least       ████████████████            > limit: no subset of {a, b} fits
//
// Together, modules free at most the sum of their own bytes. With up to 12 modules, all subsets are tried in
// order of their time: the answer is optimal. With more modules, the search has three parts:
//
//   1. Greedy: adds the module that frees the most bytes at the peak per unit of time, until a replay fits.
//      Then it removes each module without which a replay still fits.
//   2. Cuts: module_covers.h lists sets that take less time than the best one so far, the shortest first, and
//      they are replayed. If no sets are left, the answer is optimal.
//   3. If replays run out before that, modules are exchanged. The shortest set that was not replayed bounds
//      how much better the optimum could be.
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
  double least_ns = 0;  // lower bound for the time of any choice of these modules; its own time if exact
};

class ModuleSearch {
 public:
  // `families`: names for several modules at once ("all", "every:2").
  ModuleSearch(Judge& judge, std::vector<std::string> modules, std::vector<std::string> families);
  ~ModuleSearch();

  // The cheapest choice that fits in `limit` together with `others`. `others` has no checkpoints. Nothing if
  // none fits.
  std::optional<ModuleChoice> Cheapest(const Changes& others, uint64_t limit);

  // A lower bound for the time of any choice that fits, without a replay. Nothing: none fits.
  [[nodiscard]] std::optional<double> AtLeastNs(const Changes& others, uint64_t limit);

  // The lever's value that checkpoints all of the modules.
  [[nodiscard]] std::string AllOfThem() const { return NameOf(std::vector<bool>(modules_.size(), true)); }
  // The least time of any checkpointing.
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
  std::vector<double> ns_;  // by module
  uint64_t decisions_;      // number of decisions that may still be visited
  std::map<std::vector<bool>, std::string> families_;
  std::map<std::string, std::unique_ptr<Content>> contents_;
};

}  // namespace vramscope::plan
