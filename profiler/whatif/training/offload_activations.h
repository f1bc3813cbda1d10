// SPDX-License-Identifier: Apache-2.0
// Saved tensors on the host: torch.autograd.graph.save_on_cpu() around forward and loss.
#pragma once

#include "profiler/whatif/scene/scene.h"

namespace vramscope::whatif {

// Returns the bytes that move to the host; as many move back. All tensors that nodes save move, including
// parameters. Fails with a sentence if nodes save nothing, or if backward creates nodes of its own.
[[nodiscard]] Result<uint64_t> OffloadActivations(const Step& step, Scene& scene);

}  // namespace vramscope::whatif
