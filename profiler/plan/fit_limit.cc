// SPDX-License-Identifier: Apache-2.0
#include "profiler/plan/fit_limit.h"

#include <fmt/format.h>

#include "profiler/report/device_memory.h"
#include "profiler/text/format.h"

namespace vramscope::plan {

std::optional<Beside> BesideOf(const model::Run& run, model::DeviceIndex device_index,
                               const whatif::Step& step) {
  const model::Device& device = run.devices[device_index];
  const auto last = step.first_event + static_cast<model::EventIndex>(step.length - 1);
  const auto memory = report::DeviceMemoryAfter(run, device.process, device.code, last, 0);
  if (!memory) return std::nullopt;
  Beside beside;
  int64_t others = 0;
  for (size_t i = 0; i < report::kDeviceRowCount; ++i) {
    const auto row = static_cast<report::DeviceRow>(i);
    const bool pytorch = row == report::DeviceRow::kAllocated || row == report::DeviceRow::kCached;
    if (!pytorch && row != report::DeviceRow::kContext) others += memory->rows[i];
  }
  beside.other_bytes = static_cast<uint64_t>(std::max<int64_t>(others, 0));
  beside.context_bytes = static_cast<uint64_t>(std::max<int64_t>(memory->Of(report::DeviceRow::kContext), 0));
  beside.capacity_bytes = memory->capacity.value_or(0);
  return beside;
}

FitLimit LimitOf(uint64_t fit_bytes, const std::optional<collector::GpuModel>& gpu,
                 const std::optional<Beside>& beside) {
  FitLimit limit{text::FormatBytes(fit_bytes), fit_bytes, beside, 0, 0};
  if (gpu) limit.limit_name += fmt::format(" ({})", gpu->name);
  if (beside) limit.beside_bytes = gpu ? beside->On(*gpu) : beside->total();
  limit.reserved_limit = fit_bytes - std::min(fit_bytes, limit.beside_bytes);
  return limit;
}

std::string BesideText(const FitLimit& limit) {
  if (!limit.beside)
    return "Memory outside PyTorch's allocator (mainly the CUDA context) is not in the trace and not "
           "counted.";
  return fmt::format("{} of it are used outside PyTorch's allocator; {} are left for PyTorch to reserve.",
                     text::FormatBytes(limit.beside_bytes), text::FormatBytes(limit.reserved_limit));
}

}  // namespace vramscope::plan
