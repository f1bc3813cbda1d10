// SPDX-License-Identifier: Apache-2.0
// Which framework a run is of, and which analyses fit it.
#pragma once

#include "profiler/model/source.h"

namespace vramscope::model {

// Why the model of PyTorch's allocator, and the changes that whatif predicts, do not fit the run, as a clause
// after "run.vms: "; nullptr if they do. A run that has both frameworks counts as one of PyTorch.
[[nodiscard]] inline const char* WhyNotPyTorch(const Source& source) {
  const trace::Metadata& metadata = source.metadata();
  if (metadata.contains("torch.version") || !metadata.contains("tensorflow.version")) return nullptr;
  return "this is a run of TensorFlow, and only PyTorch's allocator and changes to PyTorch programs can be "
         "predicted. To measure a change, make it in the program and use vramscope dryrun.";
}

}  // namespace vramscope::model
