// SPDX-License-Identifier: Apache-2.0
// A disk cache, shared by all recordings, of answers that are slow to compute and stay valid until a file
// changes.
//
// Why: asking a Python where its torch is and reading torch's headers takes 0.1 s before every command, a
// tenth of `import torch` itself. Checking that the files are unchanged takes 0.1 ms.
//
//   <folder>/<hash of the question>.answer
//   vramscope-answer 1 │ question │ answer │ "mtime size path" of each witness       one line each
//
// A witness is a file or folder that the answer depends on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace vramscope::collector {

// The stored answer to `question`, if its witnesses (files and folders, present or not) are unchanged. An
// entry that does not parse is ignored. Empty `folder`: there is no cache.
std::optional<std::string> RecallAnswer(const std::string& folder, const std::string& question);

// Stores `answer`. Silently does nothing if the folder cannot be written, or if a text has more than one
// line. The file appears complete or not at all.
void KeepAnswer(const std::string& folder, const std::string& question, const std::string& answer,
                const std::vector<std::string>& witnesses);

// FNV-1a, 64 bits: for file names in a cache, not for secrets.
uint64_t HashOf(const std::string& text);

}  // namespace vramscope::collector
