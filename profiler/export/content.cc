// SPDX-License-Identifier: Apache-2.0
#include "profiler/export/content.h"

#include "profiler/report/build.h"
#include "profiler/report/device_choice.h"

namespace vramscope::exporting {

Result<Content> Content::Of(const classify::Analysis& analysis, report::Request request) {
  Content content(analysis);
  const model::Run& run = analysis.run();
  content.curves_ = report::CurvesOf(run);
  const Result<model::DeviceIndex> device = report::ChooseDevice(run, content.curves_, request);
  if (!device.ok()) return device.error();
  if (*device == model::kNone) return report::NothingAllocated(run, "there is nothing to write");
  content.device_ = *device;
  content.peak_event_ = content.curve().peak().event;
  request.top = 0;
  request.blocks = true;
  if (request.at.empty()) request.at = {{}};
  Result<report::Answer> answer = report::BuildAnswer(analysis, request);
  if (!answer.ok()) return answer.error();
  content.answer_ = std::move(*answer);
  return content;
}

}  // namespace vramscope::exporting
