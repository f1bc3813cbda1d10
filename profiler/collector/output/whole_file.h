// SPDX-License-Identifier: Apache-2.0
// Reads a whole file into a string, and checks whether a file exists.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace vramscope::collector {

// Returns as much of the file as can be read, at most `most` bytes. Never throws for an unreadable file,
// unlike a stream.
std::string ReadWhole(const std::string& path, size_t most = SIZE_MAX);

// False if it cannot be determined.
bool Exists(const std::filesystem::path& path);

}  // namespace vramscope::collector
