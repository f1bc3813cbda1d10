// SPDX-License-Identifier: Apache-2.0
#include "injector/torch/hook_table.h"

#include "injector/core/hot.h"

namespace vramscope::injector {

constinit Hook torch_hooks[kHookCount] = {VRAMSCOPE_TORCH_HOOKS(VRAMSCOPE_HOOK_ROW)};

VRAMSCOPE_HOT alignas(64) constinit RealFunctions<HookId, torch_hooks> real_functions;

}  // namespace vramscope::injector
