// SPDX-License-Identifier: Apache-2.0
// Runs as they may be shown to others.
#pragma once

#include <memory>

#include "profiler/model/source.h"

namespace vramscope::cli {

// Command lines have nothing that looks like a secret (text/redact.h); the rest stays, for whoever works on
// with the trace.
[[nodiscard]] std::shared_ptr<const model::Source> WithoutSecrets(
    std::shared_ptr<const model::Source> source);

// For a page that anybody may read: besides, nothing says whose run it was. Commands have no arguments, no
// text has a folder, which mostly names a user and a project, and source files are left out.
[[nodiscard]] std::shared_ptr<const model::Source> ForEverybody(std::shared_ptr<const model::Source> source);

}  // namespace vramscope::cli
