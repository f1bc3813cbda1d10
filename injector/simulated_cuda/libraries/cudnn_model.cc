// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/libraries/cudnn_model.h"

namespace vramscope::simulated::cudnn {

void ProposeModelEngines(Descriptor& heuristics) {
  auto* const configuration = new Descriptor(kEngineConfiguration);
  auto* const engine = new Descriptor(kEngine);
  engine->SetInt64(kEngineIndex, 0);
  configuration->Set(kConfigurationEngine, kDescriptor, 1, &engine);
  heuristics.Set(kHeuristicsResults, kDescriptor, 1, &configuration);
  engine->Release();
  configuration->Release();
}

int64_t ModelWorkspace(const Descriptor&, int64_t) { return 0; }

}  // namespace vramscope::simulated::cudnn
