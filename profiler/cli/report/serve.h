// SPDX-License-Identifier: Apache-2.0
// Shows files in a browser: for `vramscope serve`, and for `vramscope view --web` or without a display.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace_format/result.h"

namespace vramscope::cli {

struct Service {
  std::string address = "127.0.0.1";
  uint16_t port = 0;  // 0 = any free one
  std::string token;  // "" = a random one
  bool open_browser = false;
  std::string fragment;  // of the link: "run.vms@step:3"
};

// Opens a link in the desktop's default browser. Does nothing if there is no desktop.
void OpenOnDesktop(const std::string& link);

// Returns after Ctrl-C.
[[nodiscard]] Result<int> Serve(const std::vector<std::string>& paths, const Service& service);

}  // namespace vramscope::cli
