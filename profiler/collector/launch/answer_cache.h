// SPDX-License-Identifier: Apache-2.0
// A disk cache of answers that stay valid until a file changes, for example the location of torch. Finding it
// takes 0.1 s, checking that the files are unchanged 0.1 ms.
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

// The stored answer, if its witnesses are unchanged. Unreadable entries are ignored. Empty `folder`: there is
// no cache.
std::optional<std::string> RecallAnswer(const std::string& folder, const std::string& question);

// Does nothing if the folder cannot be written, or if a text has more than one line. The file appears
// complete or not at all.
void KeepAnswer(const std::string& folder, const std::string& question, const std::string& answer,
                const std::vector<std::string>& witnesses);

// FNV-1a, 64 bits, for file names.
uint64_t HashOf(const std::string& text);

}  // namespace vramscope::collector
