// SPDX-License-Identifier: Apache-2.0
#include "profiler/model/framework.h"

#include <algorithm>
#include <array>

namespace vramscope::model {
namespace {

// The first one is the default.
constexpr std::array kFrameworks = {
    Framework{
        .name = "PyTorch",
        .version_key = "torch.version",
        .allocator = AllocatorModel::kPyTorch,
        .allocated = {"PyTorch, allocated", "are PyTorch's tensors"},
        .cached = {"PyTorch, cached", "are cached by PyTorch, free inside its segments"},
        .beside = {"PyTorch, outside its allocator", "are taken by PyTorch outside its caching allocator"},
        .parameters = {"Parameters", "parameters"},
        .optimizer_state = {"Optimizer state", "optimizer state"},
        .by_parameter = "By parameter, with its gradient and optimizer state",
        .has_deep_steps = true,
        .no_prediction = nullptr,
        .example = {"batch", "0.5x"},
    },
    Framework{
        .name = "TensorFlow",
        .version_key = "tensorflow.version",
        .allocator = AllocatorModel::kBfc,
        .allocated = {"TensorFlow, allocated", "are TensorFlow's tensors"},
        .cached = {"TensorFlow, free", "are free inside the regions of TensorFlow's allocator"},
        .beside = {"TensorFlow, outside its allocator", "are taken by TensorFlow outside its allocator"},
        .parameters = {"Variables", "variables"},
        .optimizer_state = {"Slots", "optimizer slots"},
        .by_parameter = "By variable, with its gradient and slots",
        .has_deep_steps = false,
        .no_prediction = "this is a run of TensorFlow, and only changes to PyTorch programs can be predicted "
                         "from a trace.",
        .example = {"batch", "0.5x"},
    },
    Framework{
        .name = "JAX",
        .version_key = "jax.version",
        .allocator = AllocatorModel::kBfc,
        .allocated = {"JAX, allocated", "are JAX's arrays and its programs' temporaries"},
        .cached = {"JAX, free", "are free inside the memory that JAX reserved"},
        .beside = {"JAX, outside its allocator", "are taken by JAX outside its allocator"},
        .parameters = {"Parameters", "parameters"},
        .optimizer_state = {"Optimizer state", "optimizer state"},
        .by_parameter = "By parameter, with its gradient and optimizer state",
        .has_deep_steps = false,
        .no_prediction = "this is a run of JAX, and only changes to PyTorch programs can be predicted from a "
                         "trace.",
        .example = {"checkpoint", "dots_saveable"},
    },
};

}  // namespace

const Framework& PyTorch() { return kFrameworks.front(); }

const Framework& FrameworkOf(const Source& source) {
  const trace::Metadata& metadata = source.metadata();
  const auto named = std::ranges::find_if(
      kFrameworks, [&](const Framework& framework) { return metadata.contains(framework.version_key); });
  return named == kFrameworks.end() ? kFrameworks.front() : *named;
}

}  // namespace vramscope::model
