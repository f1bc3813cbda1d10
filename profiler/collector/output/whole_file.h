// SPDX-License-Identifier: Apache-2.0
// Reads a whole file into a string, and checks whether a file exists.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace vramscope::collector {

// Returns as much of the file as can be read, at most `most` bytes; never throws for an unreadable file. Does
// not use a stream, because a stream buffer throws if a read fails. Reads fail for a folder, and for a file
// in /proc if its process dies between open and read.
std::string ReadWhole(const std::string& path, size_t most = SIZE_MAX);

// False if it cannot be determined.
bool Exists(const std::filesystem::path& path);

}  // namespace vramscope::collector
