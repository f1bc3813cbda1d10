// SPDX-License-Identifier: Apache-2.0
// What to change so that a recorded program fits: the cheapest combinations of levers, and what they cost.
//
// The search goes through all combinations of the levers' settings (whatif/lever.h) in the order of their
// rank, so the first that fits is the cheapest. For each combination without checkpoints, the modules to
// checkpoint are a search of their own (module_search.h). Only transformations are searched: what a re-run
// answers (reruns.h) takes seconds each.
//
//   queue by rank:   {expandable}  {fused}  {expandable, fused} ... {expandable, modules ?} ... {sgd} ...
//                        │ does not fit
//                        └──► {expandable, modules ?}  ranked by the least that modules can take
//                                  └──► {expandable, blocks.3,blocks.5}  ranked by what they take
//
// When the work runs out before anything fits, a coarser search goes on: all checkpoints or none.
//
// For each set of levers only its cheapest combination is told, and none that needs the levers of a cheaper
// one and others beside them.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/plan/judge.h"

namespace vramscope::plan {

// Blocks that a search may look at: a second or two of work.
inline constexpr uint64_t kUsualWork = 14'000'000;

struct Request {
  uint64_t limit = 0;               // bytes of reserved memory
  std::vector<std::string> levers;  // that may be pulled
  size_t top = 3;
  uint64_t work = kUsualWork;
  // The search ends soon after another thread has set it, with what it has.
  const std::atomic<bool>* stop = nullptr;
  Need need;
};

struct Plan {
  Verdict verdict;
  // Of the modules that it checkpoints.
  bool exact = true;    // no other choice of them takes less time
  double least_ns = 0;  // else: none takes less than this
};

struct Answer {
  bool fits_already = false;
  std::vector<Plan> plans;  // in order of rank
  Verdict floor;            // what needs least of all that was replayed
  bool complete = true;  // false: the work ran out before so many plans were found, or everything ruled out
  uint64_t replays = 0;
};

[[nodiscard]] Answer MakePlans(const whatif::Step& step, const whatif::Baseline& baseline,
                               const Request& request);

// The combinations of settings without checkpoints that a search goes through, the empty one first.
[[nodiscard]] std::vector<Changes> Combinations(const whatif::Step& step,
                                                const std::vector<std::string>& levers);

// Whether `lever` is among those that a search may pull.
[[nodiscard]] bool Allowed(const std::vector<std::string>& levers, std::string_view lever);

// The names of all levers, as --allow and --forbid take them.
[[nodiscard]] std::vector<std::string> AllLevers();
// Those that a search chooses among unless it is told others: transformations, settings of the allocator, and
// of re-runs autocast.
[[nodiscard]] std::vector<std::string> UsualLevers();

}  // namespace vramscope::plan
