// SPDX-License-Identifier: Apache-2.0
// Formats a report as one screen of text: the peak in one sentence, its categories, its owners, and the
// steps.
#pragma once

#include <string>

#include "profiler/cli/frame/terminal.h"
#include "profiler/report/answer.h"

namespace vramscope::cli {

enum class OwnersShown : uint8_t { kFew, kAll };

// `path`: path of the trace, for the headline. kFew shows as many owners as fit on a screen; kAll shows all
// owners.
[[nodiscard]] std::string ReportScreen(const std::string& path, const report::Answer& answer,
                                       OwnersShown shown, const Terminal& terminal);

}  // namespace vramscope::cli
