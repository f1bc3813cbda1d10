// SPDX-License-Identifier: Apache-2.0
// Transforms the recorded step of one GPU into the step of one rank of a job with several ranks.
//
// Levers that are applied later (optimizer, checkpoints, gradient accumulation) work on the rank's parameters
// and gradients.
//
//   replicated      parameters ━━━━━━━━━━━━━━━━━━   whole
//                   buckets    ━━━━━━━━━━━━━━━━━━   one copy of all gradients, averaged in place
//   fully sharded   parameters ━━━━━━━━━━━━━━━━━━   1/N
//                   unit i       ├gather┤ ... ├gather┤          all parameters of a unit while it computes
//                   gradients                        ├whole┤─1/N────
//
// Collectives add no blocks: NCCL takes its memory from the driver.
#pragma once

#include "profiler/whatif/scene/scene.h"
#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// Returns the step with DistributedDataParallel. The first bucket has 1 MiB, the others have 25 MiB. Buckets
// fill in the order in which gradients are computed. `as_views` is gradient_as_bucket_view: gradients are
// views of the buckets.
[[nodiscard]] Step Replicated(const Step& step, bool as_views);

// Returns the step with ZeRO-1, as in torch.distributed.optim.ZeroRedundancyOptimizer. Parameters, including
// frozen parameters, are assigned to ranks as a whole: the largest first, each to the rank with the fewest
// bytes. The result is the step of the rank with the most bytes. Step::trained lists the parameters that this
// rank updates.
[[nodiscard]] Step WithOwnState(const Step& step, uint32_t ranks);

// A module whose parameters are gathered and resharded together.
struct Unit {
  std::string_view path;        // path of the module; "" = parameters that are in no other unit
  std::vector<Window> forward;  // calls, in order
  Window backward;
  std::vector<BlockIndex> parameters;  // blocks
  std::vector<Window> backwards;       // one per forward call; begin is kForever if the call has no backward

  // True if the module or one of its submodules has the parameter or buffer `name`.
  [[nodiscard]] bool Has(std::string_view name) const;
};
// Returns the units in this order: modules of `calls` (indices in Step::modules) in order of their first
// call, then the modules `uncalled`, then one unit for the other parameters of the model. A parameter belongs
// to the first unit whose path is the beginning of the parameter's name.
[[nodiscard]] std::vector<Unit> UnitsOf(const Step& step, const std::vector<CallIndex>& calls,
                                        const std::vector<std::string_view>& uncalled = {});
// Returns the units in the order of named_modules(); the unit with the other parameters is last. Parameters
// and buffers move to the device in this order.
[[nodiscard]] std::vector<const Unit*> AsModulesLie(const Step& step, const std::vector<Unit>& units);
// Returns the first position after `at` at which the backward of a call ends, or kForever. The last backward
// of each unit does not count. At this position, FSDPParamGroup.post_backward frees memory that was kept for
// the next module.
[[nodiscard]] Position NextPassed(const std::vector<Unit>& units, Position at);
// Returns the paths of modules whose parameters the step never uses. With `patterns`, only modules that match
// are returned; without patterns, only members of lists of blocks (nn.ModuleList). If a program shards every
// module, these modules are sharded but never gathered.
[[nodiscard]] std::vector<std::string_view> UncalledUnits(const Step& step, std::string_view patterns);
// Returns `patterns` without the patterns that match only modules of `uncalled`.
[[nodiscard]] std::string CalledPatterns(const Step& step, std::string_view patterns,
                                         const std::vector<std::string_view>& uncalled);

// Returns the step of rank 0 with fully_shard() on each unit and on the model. With `reshard`, a unit's
// parameters are freed between its forward and backward (ZeRO-3). Otherwise the parameters stay gathered
// (ZeRO-2).
[[nodiscard]] Step FullySharded(const Step& step, const std::vector<Unit>& units, uint32_t ranks,
                                bool reshard);

}  // namespace vramscope::whatif
