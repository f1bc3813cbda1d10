// SPDX-License-Identifier: Apache-2.0
// A file as one string, and whether there is one.
#pragma once

#include <filesystem>
#include <string>

namespace vramscope::collector {

// As much of a file as can be read; never throws for one that cannot. Not a stream: a process that dies
// between open and read makes its files in /proc fail, as does a folder, and a stream buffer throws then.
std::string ReadWhole(const std::string& path);

// False where it cannot be told.
bool Exists(const std::filesystem::path& path);

}  // namespace vramscope::collector
