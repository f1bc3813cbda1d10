// SPDX-License-Identifier: Apache-2.0
// Turns a recorded step of one GPU into the step of one rank of several that train the same model together.
//
// Why a step and not a scene: later levers (another optimizer, checkpoints, accumulation) ask the step for
// parameters and gradients. They must get what the rank has.
//
//   replicated      parameters ━━━━━━━━━━━━━━━━━━   whole
//                   buckets    ━━━━━━━━━━━━━━━━━━   one copy of all gradients, which are averaged in them
//   fully sharded   parameters ━━━━━━━━━━━━━━━━━━   1/N
//                   unit i       ├gather┤ ... ├gather┤          all of a unit's, while it computes
//                   gradients                        ├whole┤─1/N────
//
// Collectives take no memory here: NCCL gets its own from the driver.
#pragma once

#include "profiler/whatif/scene/scene.h"
#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// A step of DistributedDataParallel. Buckets hold 25 MiB, the first one 1 MiB, in the order in which
// gradients arrive. `as_views`: gradients are views of the buckets (gradient_as_bucket_view=True).
[[nodiscard]] Step Replicated(const Step& step, bool as_views);

// ZeRO-1 as torch.distributed.optim.ZeroRedundancyOptimizer does it. Whole parameters, including frozen ones,
// are assigned largest first to the rank that has the fewest bytes so far. Returns the step of the rank that
// gets most: it has only its own state, and Step::trained lists the parameters that it steps.
[[nodiscard]] Step WithOwnState(const Step& step, uint32_t ranks);

// A module that is gathered and resharded as one: its forward calls, and where backward runs it.
struct Unit {
  std::string_view path;        // "" = parameters that are in no other unit
  std::vector<Window> forward;  // in order
  Window backward;
  std::vector<BlockIndex> parameters;  // blocks
  std::vector<Window> backwards;       // one per forward call; begin kForever: no backward

  // True if the module, or one inside it, has a parameter or buffer with that name.
  [[nodiscard]] bool Has(std::string_view name) const;
};
// Units for `calls` (into Step::modules), in the order of their first call; then the `uncalled` modules by
// path; last the rest of the model. A parameter belongs to the module whose path its name begins with.
[[nodiscard]] std::vector<Unit> UnitsOf(const Step& step, const std::vector<CallIndex>& calls,
                                        const std::vector<std::string_view>& uncalled = {});
// The units in the order of named_modules(), with the rest of the model last. A model's parameters and
// buffers move to the device in this order. It can differ from the order of the calls.
[[nodiscard]] std::vector<const Unit*> AsModulesLie(const Step& step, const std::vector<Unit>& units);
// Returns when the next backward of a call ends after `at`; kForever if there is none. The last such backward
// of each unit does not count. Memory that waits for the next module is freed there
// (FSDPParamGroup.post_backward).
[[nodiscard]] Position NextPassed(const std::vector<Unit>& units, Position at);
// Paths of modules that match the patterns and whose parameters the step never uses. Without patterns: the
// members of lists of blocks whose parameters the step never uses. A program that shards every module shards
// these too, and never gathers them.
[[nodiscard]] std::vector<std::string_view> UncalledUnits(const Step& step, std::string_view patterns);
// `patterns` without those that match only modules in `uncalled`.
[[nodiscard]] std::string CalledPatterns(const Step& step, std::string_view patterns,
                                         const std::vector<std::string_view>& uncalled);

// A step of rank 0 with fully_shard() on each unit and on the model. `reshard`: parameters are freed after a
// unit's forward and gathered again for its backward (ZeRO-3); otherwise they stay in between (ZeRO-2).
[[nodiscard]] Step FullySharded(const Step& step, const std::vector<Unit>& units, uint32_t ranks,
                                bool reshard);

}  // namespace vramscope::whatif
