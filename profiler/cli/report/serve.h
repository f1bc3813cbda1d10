// SPDX-License-Identifier: Apache-2.0
// Serves files to a browser. Used by `vramscope serve`, and by `vramscope view` with --web or without a
// display.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace_format/result.h"

namespace vramscope::cli {

struct Service {
  std::string address = "127.0.0.1";
  uint16_t port = 0;  // 0 = any free port
  std::string token;  // access token in the link; "" = a random token
  bool open_browser = false;
  std::string fragment;  // fragment of the link, such as "run.vms@step:3"
};

// Opens a link in the desktop's default browser. Does nothing if there is no desktop.
void OpenOnDesktop(const std::string& link);

// Serves `paths` until the user presses Ctrl-C.
[[nodiscard]] Result<int> Serve(const std::vector<std::string>& paths, const Service& service);

}  // namespace vramscope::cli
