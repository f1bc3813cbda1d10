// SPDX-License-Identifier: Apache-2.0
// The changes that make a recorded program fit: the cheapest combinations of levers, and their costs.
//
// Combinations are visited in order of rank (rank.h): the first that fits is the cheapest. For each
// combination without checkpoints, module_search.h chooses the modules to checkpoint. Only transformations
// are searched: a re-run (reruns.h) takes seconds.
//
//   queue by rank:   {expandable}  {fused}  {expandable, fused} ... {expandable, modules ?} ... {sgd} ...
//                        │ does not fit
//                        └──► {expandable, modules ?}  ranked by the least time that modules can take
//                                  └──► {expandable, blocks.3,blocks.5}  ranked by the time that they take
//
// If the work runs out before anything fits, a coarser search follows: all checkpoints or none.
//
// Each set of levers is reported once, with its cheapest combination. A combination is left out if a part of
// its levers gives a cheaper plan that fits.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/plan/judge.h"

namespace vramscope::plan {

// Blocks that a search may visit: one or two seconds of work.
inline constexpr uint64_t kUsualWork = 14'000'000;

struct Request {
  uint64_t limit = 0;               // bytes of reserved memory
  std::vector<std::string> levers;  // levers that may be used
  size_t top = 3;
  uint64_t work = kUsualWork;
  // Set by another thread: the search ends soon and returns what it has.
  const std::atomic<bool>* stop = nullptr;
  Need need;
};

struct Plan {
  Verdict verdict;
  // For the modules that it checkpoints:
  bool exact = true;    // no other choice of modules takes less time
  double least_ns = 0;  // if not exact: no choice takes less time
};

struct Answer {
  bool fits_already = false;
  std::vector<Plan> plans;  // in order of rank
  Verdict floor;            // the replayed plan that needs the least memory
  bool complete = true;     // false: the work ran out before `top` plans were found or the others ruled out
  uint64_t replays = 0;
};

[[nodiscard]] Answer MakePlans(const whatif::Step& step, const whatif::Baseline& baseline,
                               const Request& request);

// The combinations of settings without checkpoints, the empty one first.
[[nodiscard]] std::vector<Changes> Combinations(const whatif::Step& step,
                                                const std::vector<std::string>& levers);

// True if a search may use `lever`.
[[nodiscard]] bool Allowed(const std::vector<std::string>& levers, std::string_view lever);

// All levers, as --allow and --forbid accept them.
[[nodiscard]] std::vector<std::string> AllLevers();
// The default levers: transformations, allocator settings, and autocast.
[[nodiscard]] std::vector<std::string> UsualLevers();

}  // namespace vramscope::plan
