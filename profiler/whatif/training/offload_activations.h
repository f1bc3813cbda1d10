// SPDX-License-Identifier: Apache-2.0
// The lever "offload=activations": tensors that autograd saves are moved to host memory, as
// torch.autograd.graph.save_on_cpu() around forward and loss does.
#pragma once

#include "profiler/whatif/scene/scene.h"

namespace vramscope::whatif {

// Returns the bytes that are copied to the host; the same number is copied back in backward. All tensors that
// nodes save are moved, including parameters. Fails with a sentence if no node saves a tensor, or if backward
// itself creates nodes.
[[nodiscard]] Result<uint64_t> OffloadActivations(const Step& step, Scene& scene);

}  // namespace vramscope::whatif
