// SPDX-License-Identifier: Apache-2.0
// A disk cache for answers that stay valid until a file changes. An example is the location of torch: finding
// it takes 0.1 s, but checking that the files are unchanged takes 0.1 ms.
//
//   <folder>/<hash of the question>.answer
//   vramscope-answer 1 │ question │ answer │ "mtime size path" of each witness       one line each
//
// A witness is a file or folder that the answer depends on. If it changes, the answer is no longer valid.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace vramscope::collector {

// Returns the stored answer if all its witnesses are unchanged. Unreadable entries are ignored. An empty
// `folder` means that there is no cache.
std::optional<std::string> RecallAnswer(const std::string& folder, const std::string& question);

// Stores an answer. Does nothing if the folder cannot be written, or if a text has more than one line. The
// file is written atomically.
void KeepAnswer(const std::string& folder, const std::string& question, const std::string& answer,
                const std::vector<std::string>& witnesses);

// Returns the 64-bit FNV-1a hash of `text`, which names the cache file.
uint64_t HashOf(const std::string& text);

}  // namespace vramscope::collector
