// SPDX-License-Identifier: Apache-2.0
// Recordings and snapshots, without the data that must not be shown to others.
#pragma once

#include <memory>

#include "profiler/model/source.h"

namespace vramscope::cli {

// Removes what looks like a secret from command lines (text/redact.h). Everything else stays, for people who
// continue to work with the trace.
[[nodiscard]] std::shared_ptr<const model::Source> WithoutSecrets(
    std::shared_ptr<const model::Source> source);

// For a page that anybody may read: also removes everything that identifies the run's owner. Commands have no
// arguments, texts have no folders (these usually name a user and a project), and source files are left out.
[[nodiscard]] std::shared_ptr<const model::Source> ForEverybody(std::shared_ptr<const model::Source> source);

}  // namespace vramscope::cli
