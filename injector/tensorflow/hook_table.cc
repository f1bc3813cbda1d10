// SPDX-License-Identifier: Apache-2.0
#include "injector/tensorflow/hook_table.h"

#include "injector/core/hot.h"

namespace vramscope::injector::tensorflow {

constinit Hook hooks[kHookCount] = {VRAMSCOPE_TENSORFLOW_HOOKS(VRAMSCOPE_HOOK_ROW)};

VRAMSCOPE_HOT constinit RealFunctions<HookId, hooks> real_functions;

}  // namespace vramscope::injector::tensorflow
