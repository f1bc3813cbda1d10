// SPDX-License-Identifier: Apache-2.0
// A file as one string, and whether there is one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace vramscope::collector {

// As much of a file as can be read, and at most so many bytes; never throws for one that cannot. Not a
// stream: a process that dies between open and read makes its files in /proc fail, as does a folder, and a
// stream buffer throws then.
std::string ReadWhole(const std::string& path, size_t most = SIZE_MAX);

// False where it cannot be told.
bool Exists(const std::filesystem::path& path);

}  // namespace vramscope::collector
