// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/frame/device_request.h"

#include <fmt/format.h>

#include <utility>

#include "profiler/cli/frame/terminal.h"

namespace vramscope::cli {

Result<report::Request> DeviceRequest(const Arguments& arguments) {
  report::Request request;
  if (arguments.Has("device")) request.device = arguments.Get("device");
  for (const auto& [option, value] : {std::pair{"process", &request.pid}, std::pair{"rank", &request.rank}}) {
    if (!arguments.Has(option)) continue;
    *value = VRAMSCOPE_TRY(NumberOf(arguments, option));
  }
  return request;
}

std::string AboutText(const std::string& about, uint32_t others) {
  if (others == 0) return about;
  return fmt::format("{}; {} not shown", about, FormatCount(others, "other"));
}

}  // namespace vramscope::cli
