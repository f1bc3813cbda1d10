// SPDX-License-Identifier: Apache-2.0
// What to change so that a recorded program fits: the cheapest combinations of levers, and their costs.
//
// The search visits all combinations of the levers' settings (whatif/lever.h) in the order of their rank, so
// the first that fits is the cheapest. For each combination without checkpoints, a separate search chooses
// the modules to checkpoint (module_search.h). The search covers transformations only: a re-run (reruns.h)
// takes seconds.
//
//   queue by rank:   {expandable}  {fused}  {expandable, fused} ... {expandable, modules ?} ... {sgd} ...
//                        │ does not fit
//                        └──► {expandable, modules ?}  ranked by the least time that modules can take
//                                  └──► {expandable, blocks.3,blocks.5}  ranked by the time that they take
//
// If the work runs out before anything fits, a coarser search continues: all checkpoints or none.
//
// For each set of levers, only the cheapest combination is reported. A combination is left out if some of its
// levers alone give a cheaper plan that fits.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/plan/judge.h"

namespace vramscope::plan {

// Blocks that a search may visit: a second or two of work.
inline constexpr uint64_t kUsualWork = 14'000'000;

struct Request {
  uint64_t limit = 0;               // bytes of reserved memory
  std::vector<std::string> levers;  // levers that may be used
  size_t top = 3;
  uint64_t work = kUsualWork;
  // If another thread sets it, the search ends soon and returns what it has.
  const std::atomic<bool>* stop = nullptr;
  Need need;
};

struct Plan {
  Verdict verdict;
  // For the modules that it checkpoints:
  bool exact = true;    // no other choice of modules takes less time
  double least_ns = 0;  // if not exact: no choice takes less than this
};

struct Answer {
  bool fits_already = false;
  std::vector<Plan> plans;  // in order of rank
  Verdict floor;            // the plan that needs the least memory, among those that were replayed
  bool complete = true;     // false: the work ran out before `top` plans were found or the rest ruled out
  uint64_t replays = 0;
};

[[nodiscard]] Answer MakePlans(const whatif::Step& step, const whatif::Baseline& baseline,
                               const Request& request);

// The combinations of settings without checkpoints that a search visits, the empty one first.
[[nodiscard]] std::vector<Changes> Combinations(const whatif::Step& step,
                                                const std::vector<std::string>& levers);

// True if a search may use `lever`.
[[nodiscard]] bool Allowed(const std::vector<std::string>& levers, std::string_view lever);

// The names of all levers, as --allow and --forbid accept them.
[[nodiscard]] std::vector<std::string> AllLevers();
// The levers that a search uses by default: transformations, allocator settings, and among re-runs autocast.
[[nodiscard]] std::vector<std::string> UsualLevers();

}  // namespace vramscope::plan
