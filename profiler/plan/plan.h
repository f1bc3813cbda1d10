// SPDX-License-Identifier: Apache-2.0
// Searches for changes with which a recorded program fits into a memory limit: the cheapest combinations of
// levers, and their costs.
//
// Combinations are tried in order of rank (rank.h), so the first combination that fits is the cheapest. For
// each combination, module_search.h then chooses the modules to checkpoint (`modules ?` below = not chosen
// yet). The search uses only transformations, because a re-run (reruns.h) takes seconds.
//
//   queue by rank:   {expandable}  {fused}  {expandable, fused} ... {expandable, modules ?} ... {sgd} ...
//                        │ does not fit
//                        └──► {expandable, modules ?}  ranked by the least time of any choice
//                                  └──► {expandable, blocks.3,blocks.5}  ranked by its own time
//
// The search stops after a fixed amount of work (Request::work). If no combination has fitted until then, a
// coarser search follows, which checkpoints either all modules or none.
//
// Each set of levers is reported once, with its cheapest combination. A combination is left out if some of
// its levers alone give a cheaper plan that fits.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/plan/judge.h"

namespace vramscope::plan {

// Default for Request::work: the number of blocks that a search may visit. Visiting so many blocks takes one
// or two seconds.
inline constexpr uint64_t kUsualWork = 14'000'000;

struct Request {
  uint64_t limit = 0;               // bytes of reserved memory
  std::vector<std::string> levers;  // levers that the search may use
  size_t top = 3;
  uint64_t work = kUsualWork;
  // If another thread sets *stop, the search ends soon and returns the plans found so far.
  const std::atomic<bool>* stop = nullptr;
  Need need;
};

struct Plan {
  Verdict verdict;
  // The next two fields concern the choice of modules to checkpoint.
  bool exact = true;    // true: no other choice of modules takes less time
  double least_ns = 0;  // if not exact: lower bound of the time that any choice takes
};

struct Answer {
  bool fits_already = false;
  std::vector<Plan> plans;  // in order of rank
  Verdict floor;            // among all replayed plans, the plan that needs the least memory
  bool complete = true;     // false: the search stopped early, so cheaper plans may be missing
  uint64_t replays = 0;
};

[[nodiscard]] Answer MakePlans(const whatif::Step& step, const whatif::Baseline& baseline,
                               const Request& request);

// Returns all combinations of settings without checkpoints, beginning with the empty combination.
[[nodiscard]] std::vector<Changes> Combinations(const whatif::Step& step,
                                                const std::vector<std::string>& levers);

// True if a search may use `lever`.
[[nodiscard]] bool Allowed(const std::vector<std::string>& levers, std::string_view lever);

// Returns all levers, with the names that --allow and --forbid accept.
[[nodiscard]] std::vector<std::string> AllLevers();
// Returns the levers that are searched by default: transformations, allocator settings, and autocast.
[[nodiscard]] std::vector<std::string> UsualLevers();

}  // namespace vramscope::plan
