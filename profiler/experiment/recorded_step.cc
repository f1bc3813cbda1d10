// SPDX-License-Identifier: Apache-2.0
#include "profiler/experiment/recorded_step.h"

#include <fmt/format.h>

#include "profiler/experiment/program_head.h"
#include "profiler/experiment/unanswered.h"
#include "profiler/model/framework.h"
#include "profiler/report/device_choice.h"
#include "profiler/report/failed.h"
#include "profiler/report/notes.h"

namespace vramscope::experiment {
namespace {

std::string HowToTry(const trace::Metadata& metadata, const model::Framework& framework,
                     const std::vector<whatif::Asked>& changes) {
  const std::vector<whatif::Asked> example = {{framework.example.lever, framework.example.value}};
  return " Measure the change in the program itself: " +
         TryCommand(metadata, RecordedPlace(metadata).gpu, changes.empty() ? example : changes);
}

}  // namespace

Result<whatif::Step> ReadStepWithProgram(const classify::Analysis& analysis, model::DeviceIndex device) {
  Result<whatif::Step> step = whatif::ReadStep(analysis, device);
  if (!step.ok()) return step;
  const trace::Programs& programs = analysis.run().source->programs();
  const auto program = programs.find(analysis.run().devices[device].process);
  if (program == programs.end()) return step;
  if (std::optional<ProgramHead> head = ReadProgramHead(program->second.text))
    step->own_switch = std::move(head->checkpointed);
  return step;
}

Result<std::unique_ptr<RecordedStep>> ReadRecordedStep(const std::string& path, Result<model::Run> run,
                                                       const report::Request& request,
                                                       const std::vector<whatif::Asked>& changes) {
  auto recorded = std::make_unique<RecordedStep>();
  if (!run.ok()) return run.error();
  recorded->run = run.Take();
  const std::vector<timeline::DeviceCurve> curves = report::CurvesOf(recorded->run);
  const model::DeviceIndex device =
      VRAMSCOPE_TRY(PrefixError(path, report::ChooseDevice(recorded->run, curves, request)));
  const std::string caching_off = report::CachingOff(recorded->run.source->metadata());
  if (device == model::kNone || trace::DeviceTypeOf(recorded->run.devices[device].code) == 0)
    return CannotJudge(path + ": nothing was allocated on a GPU; " +
                       (caching_off.empty() ? "record on a GPU, or with vramscope dryrun." : caching_off));
  recorded->device = device;
  const model::Framework& framework = model::FrameworkOf(*recorded->run.source);
  if (framework.no_prediction != nullptr)
    return CannotJudge(path + ": " + framework.no_prediction +
                       HowToTry(recorded->run.source->metadata(), framework, changes));
  const auto& metadata = recorded->run.source->metadata();
  const auto missing = metadata.find("bridge.missing");
  const auto operators = recorded->run.event_counts[static_cast<size_t>(trace::EventType::kOpBegin)];
  if (missing != metadata.end() && operators == 0)
    return CannotJudge(fmt::format("{}: operators were not recorded, so no change can be predicted. {}", path,
                                   missing->second));
  const auto meant = report::ChooseDevices(recorded->run, curves, request);
  if (meant.ok()) recorded->spoken = report::SpokenOf(recorded->run, device, *meant);
  recorded->failed = report::HowItFailed(recorded->run, recorded->run.devices[device].process);
  recorded->analysis.emplace(recorded->run);
  recorded->step =
      VRAMSCOPE_TRY(CannotJudge(PrefixError(path, ReadStepWithProgram(*recorded->analysis, device))));
  recorded->baseline = VRAMSCOPE_TRY(
      CannotJudge(PrefixError(path, whatif::MakeBaseline(recorded->step, *recorded->analysis))));
  return recorded;
}

}  // namespace vramscope::experiment
