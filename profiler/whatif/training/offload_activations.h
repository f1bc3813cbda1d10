// SPDX-License-Identifier: Apache-2.0
// What autograd keeps, on the host: torch.autograd.graph.save_on_cpu() around forward and loss.
#pragma once

#include "profiler/whatif/scene/scene.h"

namespace vramscope::whatif {

// The bytes that go to the host, and as many come back: all that nodes keep, parameters too. Fails with a
// sentence when they keep nothing, and where backward makes nodes of its own.
[[nodiscard]] Result<uint64_t> OffloadActivations(const Step& step, Scene& scene);

}  // namespace vramscope::whatif
