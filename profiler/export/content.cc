// SPDX-License-Identifier: Apache-2.0
#include "profiler/export/content.h"

#include "profiler/report/build.h"
#include "profiler/report/device_choice.h"

namespace vramscope::exporting {

Result<Content> Content::Of(const classify::Analysis& analysis, report::Request request) {
  Content content(analysis);
  const model::Run& run = analysis.run();
  content.curves_ = report::CurvesOf(run);
  const model::DeviceIndex device = VRAMSCOPE_TRY(report::ChooseDevice(run, content.curves_, request));
  if (device == model::kNone) return report::NothingAllocated(run, "there is nothing to write");
  content.device_ = device;
  content.peak_event_ = content.curve().peak().event;
  request.top = 0;
  request.blocks = true;
  if (request.at.empty()) request.at = {{}};
  content.answer_ = VRAMSCOPE_TRY(report::BuildAnswer(analysis, request));
  return content;
}

}  // namespace vramscope::exporting
