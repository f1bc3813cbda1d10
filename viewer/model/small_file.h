// SPDX-License-Identifier: Apache-2.0
// Small files, read and written as a whole.
//
// POSIX calls only: a browser has no streams and no std::filesystem (viewer/platform/web).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace vramscope::viewer {

// The first `most` bytes; nothing if there is no readable regular file. Does not open pipes and devices,
// which would block.
[[nodiscard]] std::optional<std::string> ReadSmallFile(const std::string& path, size_t most = SIZE_MAX);

// False unless all of `text` was written.
[[nodiscard]] bool WriteSmallFile(const std::string& path, std::string_view text);

// Atomic. Makes missing folders. False if it could not write; the old file then remains.
bool ReplaceSmallFile(const std::string& path, std::string_view text);

}  // namespace vramscope::viewer
