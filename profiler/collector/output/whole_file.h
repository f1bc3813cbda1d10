// SPDX-License-Identifier: Apache-2.0
// Reads a whole file into a string, and checks whether a file exists.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace vramscope::collector {

// Returns the content of the file, at most `most` bytes. After a read error, returns the bytes before the
// error; empty if the file cannot be opened. Never throws, unlike std::ifstream.
std::string ReadWhole(const std::string& path, size_t most = SIZE_MAX);

// True if the file exists. False if it does not exist, or if the system cannot tell.
bool Exists(const std::filesystem::path& path);

}  // namespace vramscope::collector
