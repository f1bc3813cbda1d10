// SPDX-License-Identifier: Apache-2.0
// A recorded step of one GPU as the step of one rank of several that train the same model together.
//
// Why a step and not a scene: another optimizer, checkpoints, accumulation come after, and ask the step for
// parameters and gradients; they then get those that the rank has.
//
//   replicated      parameters ━━━━━━━━━━━━━━━━━━   whole
//                   buckets    ━━━━━━━━━━━━━━━━━━   one copy of all gradients, which are averaged in them
//   fully sharded   parameters ━━━━━━━━━━━━━━━━━━   1/N
//                   unit i       ├gather┤ ... ├gather┤          all of a unit's, while it computes
//                   gradients                        ├whole┤─1/N────
//
// Collectives cost no memory here: NCCL takes its own from the driver.
#pragma once

#include "profiler/whatif/scene/scene.h"
#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// A step of DistributedDataParallel, which makes buckets of 25 MiB, the first of 1 MiB, in the order in which
// gradients come. `as_views`: gradients are views of the buckets (gradient_as_bucket_view=True).
[[nodiscard]] Step Replicated(const Step& step, bool as_views);

// ZeRO-1 as torch.distributed.optim.ZeroRedundancyOptimizer: whole parameters are dealt out, the largest
// first, each to the rank that has least, frozen ones too. The step of the rank that gets most: its state
// alone, and in Step::trained the parameters that it steps.
[[nodiscard]] Step WithOwnState(const Step& step, uint32_t ranks);

// A module that is gathered and resharded together: the calls of its forward, and where backward runs it.
struct Unit {
  std::string_view path;        // "" = what is in no other
  std::vector<Window> forward;  // in order
  Window backward;
  std::vector<uint32_t> parameters;  // blocks
  std::vector<Window> backwards;     // as many, of each call of forward; begin kForever: it has none

  // Whether a parameter or buffer of that name is in the module, or in one within it.
  [[nodiscard]] bool Has(std::string_view name) const;
};
// Those of `calls` (into Step::modules), in the order of their first call, `uncalled` modules by their paths,
// and last of all the rest of the model. A parameter belongs to the module that its name begins with.
[[nodiscard]] std::vector<Unit> UnitsOf(const Step& step, const std::vector<uint32_t>& calls,
                                        const std::vector<std::string_view>& uncalled = {});
// As named_modules() has them, in which order a model's parameters and buffers come to the device, and not as
// they are called, which some are not; the rest of the model last.
[[nodiscard]] std::vector<const Unit*> AsModulesLie(const Step& step, const std::vector<Unit>& units);
// Where backward of a call of such a module is over next, behind `at`, while other calls of it have yet to
// add to its gradients: what waits for the next module goes there (FSDPParamGroup.post_backward). kForever:
// nowhere.
[[nodiscard]] Position NextPassed(const std::vector<Unit>& units, Position at);
// Paths of the modules that the patterns mean, or without any the members of lists of blocks, of whose
// parameters the step uses none: what shards each module takes these too, and never gathers them.
[[nodiscard]] std::vector<std::string_view> UncalledUnits(const Step& step, std::string_view patterns);
// `patterns` without those that only such units have.
[[nodiscard]] std::string CalledPatterns(const Step& step, std::string_view patterns,
                                         const std::vector<std::string_view>& uncalled);

// A step of rank 0 of fully_shard() on each unit and on the model. `reshard`: parameters are let go of behind
// a unit's forward and gathered again for its backward (ZeRO-3), else kept between (ZeRO-2).
[[nodiscard]] Step FullySharded(const Step& step, const std::vector<Unit>& units, uint32_t ranks,
                                bool reshard);

}  // namespace vramscope::whatif
