// SPDX-License-Identifier: Apache-2.0
// Turns a recorded step of one GPU into the step of one rank of several that train together.
//
// Later levers (another optimizer, checkpoints, accumulation) then see the rank's parameters and gradients.
//
//   replicated      parameters ━━━━━━━━━━━━━━━━━━   whole
//                   buckets    ━━━━━━━━━━━━━━━━━━   one copy of all gradients, averaged there
//   fully sharded   parameters ━━━━━━━━━━━━━━━━━━   1/N
//                   unit i       ├gather┤ ... ├gather┤          all of a unit's parameters, while it computes
//                   gradients                        ├whole┤─1/N────
//
// Collectives add no blocks: NCCL takes its memory from the driver.
#pragma once

#include "profiler/whatif/scene/scene.h"
#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// A step of DistributedDataParallel. Buckets hold 25 MiB, the first 1 MiB, and fill in the order in which
// gradients arrive. `as_views`: gradients are views of the buckets (gradient_as_bucket_view=True).
[[nodiscard]] Step Replicated(const Step& step, bool as_views);

// ZeRO-1 as torch.distributed.optim.ZeroRedundancyOptimizer does it. Whole parameters, also frozen ones, go
// largest first to the rank with the fewest bytes. Returns the step of the rank with most bytes.
// Step::trained lists the parameters that this rank steps.
[[nodiscard]] Step WithOwnState(const Step& step, uint32_t ranks);

// A module that is gathered and resharded as one.
struct Unit {
  std::string_view path;        // "" = parameters that are in no other unit
  std::vector<Window> forward;  // in order
  Window backward;
  std::vector<BlockIndex> parameters;  // blocks
  std::vector<Window> backwards;       // one per forward call; begin kForever: no backward

  // True if the module, or one inside it, has that parameter or buffer.
  [[nodiscard]] bool Has(std::string_view name) const;
};
// Units for `calls` (into Step::modules) by first call, then `uncalled` modules by path, then the rest of the
// model. A parameter belongs to the module whose path its name begins with.
[[nodiscard]] std::vector<Unit> UnitsOf(const Step& step, const std::vector<CallIndex>& calls,
                                        const std::vector<std::string_view>& uncalled = {});
// The units in the order of named_modules(), the rest of the model last. Parameters and buffers move to the
// device in this order.
[[nodiscard]] std::vector<const Unit*> AsModulesLie(const Step& step, const std::vector<Unit>& units);
// The first end, after `at`, of the backward of a call; kForever if none. Each unit's last backward does not
// count. At that end, memory that waits for the next module is freed (FSDPParamGroup.post_backward).
[[nodiscard]] Position NextPassed(const std::vector<Unit>& units, Position at);
// Paths of modules whose parameters the step never uses: those that match `patterns` or, without patterns,
// members of lists of blocks. A program that shards every module shards these, but never gathers them.
[[nodiscard]] std::vector<std::string_view> UncalledUnits(const Step& step, std::string_view patterns);
// `patterns` without those that match only `uncalled` modules.
[[nodiscard]] std::string CalledPatterns(const Step& step, std::string_view patterns,
                                         const std::vector<std::string_view>& uncalled);

// A step of rank 0 with fully_shard() on each unit and on the model. `reshard`: parameters are freed between
// a unit's forward and backward (ZeRO-3); otherwise they stay (ZeRO-2).
[[nodiscard]] Step FullySharded(const Step& step, const std::vector<Unit>& units, uint32_t ranks,
                                bool reshard);

}  // namespace vramscope::whatif
