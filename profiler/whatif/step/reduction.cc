// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/step/reduction.h"

#include <algorithm>

namespace vramscope::whatif {
namespace {

constexpr int64_t kMostThreads = 512;  // of a thread block that reduces
constexpr int64_t kWarp = 32;
constexpr int64_t kVector = 4;  // the most outputs that one thread loads at once
constexpr int64_t kLeastPerThread = 16;
constexpr int64_t kMostPerThread = 256;
constexpr int64_t kLongEnough = 128;  // for loading vectors along the reduction
constexpr int64_t kCounter = 4;       // bytes

int64_t DivideUp(int64_t value, int64_t by) { return (value + by - 1) / by; }

int64_t LastPowerOf2(int64_t value) {
  int64_t power = 1;
  while (power * 2 <= value) power *= 2;
  return power;
}

// The input in the iterator's view: reduced dimensions first, both kinds sorted by their strides, adjacent
// contiguous dimensions merged.
std::vector<ReducedDimension> Ordered(const Reduction& reduction) {
  std::vector<ReducedDimension> all;
  for (const ReducedDimension& dimension : reduction.dimensions) {
    if (dimension.size != 1) all.push_back(dimension);
  }
  std::stable_sort(all.begin(), all.end(), [](const ReducedDimension& a, const ReducedDimension& b) {
    return a.reduced != b.reduced ? a.reduced : a.stride < b.stride;
  });
  std::vector<ReducedDimension> joined;
  for (const ReducedDimension& dimension : all) {
    if (!joined.empty() && joined.back().reduced == dimension.reduced &&
        joined.back().stride * joined.back().size == dimension.stride) {
      joined.back().size *= dimension.size;
    } else {
      joined.push_back(dimension);
    }
  }
  return joined;
}

// Number of outputs that one thread loads at once.
int64_t OutputVector(const std::vector<ReducedDimension>& dimensions, size_t first_output) {
  int64_t vector = kVector;
  const auto fit = [&](int64_t value) {
    while (value % vector != 0) vector /= 2;
  };
  fit(dimensions[first_output].size);
  for (size_t i = 0; i < dimensions.size(); ++i) {
    if (i != first_output) fit(dimensions[i].stride);
  }
  return vector;
}

}  // namespace

ReductionScratch ScratchOf(const Reduction& reduction, Multiprocessors device) {
  const std::vector<ReducedDimension> dimensions = Ordered(reduction);
  int64_t inputs = 1, outputs = 1;
  size_t reduced = 0;
  for (const ReducedDimension& dimension : dimensions) {
    (dimension.reduced ? inputs : outputs) *= dimension.size;
    reduced += dimension.reduced;
  }
  if (reduced == 0 || inputs == 0 || outputs == 0) return {};
  const bool along = reduced == dimensions.size() || dimensions[0].stride < dimensions[reduced].stride;
  const int64_t fastest = along ? dimensions[0].stride : dimensions[reduced].stride;
  int64_t width = along ? inputs : outputs;
  const int64_t height = along ? outputs : inputs;
  int64_t output_vector = 1;
  if (fastest == 1 && along && width > kLongEnough && dimensions.size() == 1) width /= reduction.vector;
  if (fastest == 1 && !along) {
    output_vector = OutputVector(dimensions, reduced);
    width /= output_vector;
  }

  const int64_t most = kMostThreads / output_vector;
  const int64_t width2 = width < most ? LastPowerOf2(width) : most;
  const int64_t height2 = height < most ? LastPowerOf2(height) : most;
  int64_t block_width = std::min(width2, kWarp);
  const int64_t block_height = std::min(height2, most / block_width);
  block_width = std::min(width2, most / block_height);

  int64_t step_input = 1, step_output = 1;
  (along ? step_input : step_output) *= block_width;
  const bool across_warps =
      DivideUp(inputs, step_input) >= std::min(block_height * kLeastPerThread, kMostPerThread);
  (across_warps ? step_input : step_output) *= block_height;

  const int64_t per_thread = DivideUp(inputs, step_input);
  const int64_t target = int64_t{device.count} * (device.threads / (block_width * block_height));
  const int64_t grid = DivideUp(outputs / output_vector, step_output);
  if (!across_warps || per_thread < kMostPerThread || grid > target) return {};
  const int64_t blocks = std::max(std::min(DivideUp(target, grid), DivideUp(per_thread, kLeastPerThread)),
                                  DivideUp(per_thread, kMostPerThread));
  if (blocks <= 1) return {};
  int64_t bytes = reduction.accumulated_bytes * outputs * blocks;
  if (!along) bytes *= block_width * output_vector;
  return {static_cast<uint64_t>(bytes), static_cast<uint64_t>(grid * kCounter)};
}

}  // namespace vramscope::whatif
