// SPDX-License-Identifier: Apache-2.0
// Reads and writes small files as a whole.
//
// The code uses only POSIX calls, because the viewer in the browser has no streams and no std::filesystem
// (viewer/platform/web).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace vramscope::viewer {

// Returns the first `most` bytes of the file; nothing if it is not a readable regular file. Pipes and devices
// are not opened, because opening them could block.
[[nodiscard]] std::optional<std::string> ReadSmallFile(const std::string& path, size_t most = SIZE_MAX);

// Returns true if all of `text` was written.
[[nodiscard]] bool WriteSmallFile(const std::string& path, std::string_view text);

// Replaces the file atomically. Creates missing folders. Returns false if writing failed; the old file then
// remains.
bool ReplaceSmallFile(const std::string& path, std::string_view text);

}  // namespace vramscope::viewer
