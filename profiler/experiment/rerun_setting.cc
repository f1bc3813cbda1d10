// SPDX-License-Identifier: Apache-2.0
// The setting (GPU and environment) for a re-run of a trace's program.
//
// Why not in program_rerun.cc: kept re-runs are found by their setting, even where nothing can be run.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "profiler/experiment/program_rerun.h"
#include "profiler/text/harmless.h"

namespace vramscope::experiment {
namespace {

uint64_t RecordedTotal(const model::Run& run) {
  uint64_t total = 0;
  (void)run.source->ForEachBatch([&](std::span<const trace::Event> batch) {
    for (const trace::Event& event : batch)
      if (event.type == trace::EventType::kDriverTotal) total = std::max(total, event.field[3]);
    return total == 0;
  });
  return total;
}

std::string MetadataAt(const trace::Metadata& metadata, std::initializer_list<const char*> keys) {
  for (const char* key : keys)
    if (const auto found = metadata.find(key); found != metadata.end()) return found->second;
  return "";
}

}  // namespace

std::string RerunPython() {
  const char* const asked = std::getenv("VRAMSCOPE_PYTHON");
  return asked != nullptr && *asked != '\0' ? asked : "python3";
}

Result<RerunSetting> SettingOf(const model::Run& run, const std::string& gpu_asked) {
  RerunSetting setting;
  setting.simulated_folder = VRAMSCOPE_TRY(collector::FindSimulatedCuda());
  const auto models = VRAMSCOPE_TRY(collector::ListGpus(setting.simulated_folder));
  const trace::Metadata& metadata = run.source->metadata();
  const Place recorded = RecordedPlace(metadata);
  const std::string& name = gpu_asked.empty() ? recorded.gpu : gpu_asked;
  auto found = std::ranges::find(models, name, &collector::GpuModel::name);
  if (found == models.end() && !gpu_asked.empty())
    return Error{
        fmt::format("--gpu {}: no such model. See: vramscope dryrun --gpu list.", text::OneLine(name))};
  if (found == models.end()) {
    const uint64_t total = RecordedTotal(run);
    if (total == 0)
      return Error{"The trace does not record which GPU the run used. Name the GPU: --gpu a100-40gb."};
    found = std::ranges::min_element(models, {}, [&](const collector::GpuModel& model) {
      return std::pair(model.by_capacity,
                       std::max(total, model.capacity_bytes) - std::min(total, model.capacity_bytes));
    });
  }
  setting.gpu = *found;
  setting.alloc_conf = recorded.alloc_conf;
  setting.cublas_workspace =
      MetadataAt(metadata, {"program.cublas_workspace_config", "env.CUBLAS_WORKSPACE_CONFIG"});
  return setting;
}

}  // namespace vramscope::experiment
