// SPDX-License-Identifier: Apache-2.0
// A recorded step as it would be with some parameters frozen (requires_grad=False).
//
// What goes: their gradients and optimizer state; the nodes of autograd through which nothing trained is
// reached any more, with what they kept and computed; and of the others what only a frozen gradient needed.
//
//   forward    table ─ layer 0 ─ layer 1 ─ head          frozen: table, layer 0
//   nodes        ·        ·         N        N           a node is made when something that goes in is
//   trained,
//                                                        or comes from a node
//   backward                        N ◀───── N           mm(grad, weight) is not computed for layer 0, and
//   its
//                                                        output, which mm(grad', output) needs, is still kept
#pragma once

#include <functional>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// `frozen`: by parameter, a block; also asked of those that got no gradient in the recorded step, whose
// layers make nodes all the same. O(events of the step).
[[nodiscard]] Step Frozen(const Step& step, const std::function<bool(uint32_t parameter)>& frozen);

}  // namespace vramscope::whatif
