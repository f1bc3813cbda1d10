// SPDX-License-Identifier: Apache-2.0
// Small files that are read and written as a whole: the list of recent files, the layout, scripts, source
// files.
//
// Why only POSIX calls: in a browser there are no streams and no std::filesystem (viewer/platform/web).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace vramscope::viewer {

// The first `most` bytes; nothing if there is no such regular file or it cannot be read. A pipe or a device
// is not opened: it would block forever.
[[nodiscard]] std::optional<std::string> ReadSmallFile(const std::string& path, size_t most = SIZE_MAX);

// False if it could not be written as a whole.
[[nodiscard]] bool WriteSmallFile(const std::string& path, std::string_view text);

// Atomic: a reader sees the old file or the new one. Makes missing folders. False if it could not be written;
// then the old file is still there.
bool ReplaceSmallFile(const std::string& path, std::string_view text);

}  // namespace vramscope::viewer
