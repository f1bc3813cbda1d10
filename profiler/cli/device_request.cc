// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/device_request.h"

namespace vramscope::cli {

Result<report::Request> DeviceRequest(const Arguments& arguments) {
  report::Request request;
  if (arguments.Has("device")) request.device = arguments.Get("device");
  if (arguments.Has("process")) {
    const Result<uint32_t> pid = NumberOf(arguments, "process");
    if (!pid.ok()) return pid.error();
    request.pid = *pid;
  }
  return request;
}

}  // namespace vramscope::cli
