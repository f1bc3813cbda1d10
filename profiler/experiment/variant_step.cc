// SPDX-License-Identifier: Apache-2.0
#include "profiler/experiment/variant_step.h"

#include <utility>

#include "profiler/timeline/curve.h"

namespace vramscope::experiment {
namespace {

// The GPU with the most allocated bytes; a re-run uses only one. `counters`: filled from that GPU's curve.
model::DeviceIndex LargestGpu(const model::Run& run, whatif::Replayed* counters) {
  model::DeviceIndex largest = model::kNone;
  for (model::DeviceIndex device = 0; device < run.devices.size(); ++device) {
    if (trace::DeviceTypeOf(run.devices[device].code) == 0) continue;
    const timeline::DeviceCurve curve(run, device);
    if (largest != model::kNone && curve.peak().bytes <= counters->allocated_peak) continue;
    largest = device;
    counters->allocated_peak = curve.peak().bytes;
    counters->reserved_peak = curve.peak_reserved().value_or(0);
  }
  return largest;
}

}  // namespace

Result<std::unique_ptr<VariantStep>> ReadVariantStep(trace::Bytes bytes) {
  auto variant = std::make_unique<VariantStep>();
  variant->bytes = std::move(bytes);
  auto reader = VRAMSCOPE_TRY(trace::TraceReader::OpenBytes(variant->bytes, "the re-run"));
  variant->run = VRAMSCOPE_TRY(model::Load(model::MakeSource(std::move(reader))));
  variant->device = LargestGpu(variant->run, &variant->counters);
  if (variant->device == model::kNone) return Error{"nothing was allocated on a GPU."};
  const trace::Metadata& metadata = variant->run.source->metadata();
  const auto missing = metadata.find("bridge.missing");
  if (missing != metadata.end() &&
      variant->run.event_counts[static_cast<size_t>(trace::EventType::kOpBegin)] == 0)
    return Error{"operators were not recorded. " + missing->second};
  variant->analysis.emplace(variant->run);
  variant->step = VRAMSCOPE_TRY(whatif::ReadStep(*variant->analysis, variant->device));
  variant->baseline = VRAMSCOPE_TRY(whatif::MakeBaseline(variant->step, *variant->analysis));
  return variant;
}

}  // namespace vramscope::experiment
