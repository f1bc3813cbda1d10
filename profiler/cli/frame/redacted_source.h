// SPDX-License-Identifier: Apache-2.0
// Recordings and snapshots, without the data that must not be shown to others.
#pragma once

#include <memory>

#include "profiler/model/source.h"

namespace vramscope::cli {

// Removes secrets from command lines (text/redact.h).
[[nodiscard]] std::shared_ptr<const model::Source> WithoutSecrets(
    std::shared_ptr<const model::Source> source);

// For a public page: also removes the arguments of commands, the folders in texts, and source files.
[[nodiscard]] std::shared_ptr<const model::Source> ForEverybody(std::shared_ptr<const model::Source> source);

}  // namespace vramscope::cli
