// SPDX-License-Identifier: Apache-2.0
// Hides private data of a trace or snapshot: each function returns a Source that reads from another Source
// and leaves out the private data.
#pragma once

#include <memory>

#include "profiler/model/source.h"

namespace vramscope::cli {

// Removes secrets from command lines (text/redact.h).
[[nodiscard]] std::shared_ptr<const model::Source> WithoutSecrets(
    std::shared_ptr<const model::Source> source);

// Prepares a trace for a public page. Removes the arguments of command lines, the folders of paths in all
// texts, facts about the launch (model::RedactLaunches), and embedded source files.
[[nodiscard]] std::shared_ptr<const model::Source> ForEverybody(std::shared_ptr<const model::Source> source);

}  // namespace vramscope::cli
