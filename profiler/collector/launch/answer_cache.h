// SPDX-License-Identifier: Apache-2.0
// Answers that take a while to find out and hold until a file changes, kept on disk from one recording to the
// next.
//
// Why: to ask a Python where its torch is and to read torch's headers takes 0.1 s before every command, a
// tenth of `import torch` itself; to look whether the files are the same takes 0.1 ms.
//
//   <folder>/<hash of the question>.answer
//   vramscope-answer 1 │ question │ answer │ "mtime size path" of each witness       one line each
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace vramscope::collector {

// The answer that was kept for `question`, when its witnesses (files and folders, present or not) are as they
// were. Nothing is trusted that does not parse. `folder` empty: nothing is known.
std::optional<std::string> RecallAnswer(const std::string& folder, const std::string& question);

// Keeps `answer`; silently does nothing when the folder cannot be written, or when a text has more than one
// line. The file appears whole or not at all.
void KeepAnswer(const std::string& folder, const std::string& question, const std::string& answer,
                const std::vector<std::string>& witnesses);

// FNV-1a, 64 bits: names of files in a cache, not for secrets.
uint64_t HashOf(const std::string& text);

}  // namespace vramscope::collector
