// SPDX-License-Identifier: Apache-2.0
// Removes unfinished files and folders when Ctrl-C or another signal ends this program.
#pragma once

#include <string>

namespace vramscope::collector {

// From now on, the file is removed if SIGINT, SIGTERM, SIGHUP or SIGPIPE ends this program. At most 8 files
// at a time; others are not watched.
void RemoveOnSignal(const std::string& path);
// For a folder with all its contents, which this program must have created.
void RemoveFolderOnSignal(const std::string& path);
// Stops watching the file or folder.
void KeepOnSignal(const std::string& path);

}  // namespace vramscope::collector
