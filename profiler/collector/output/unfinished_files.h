// SPDX-License-Identifier: Apache-2.0
// Removes unfinished files and folders when Ctrl-C or another signal ends this program.
#pragma once

#include <string>

namespace vramscope::collector {

// After this call, the file is removed if SIGINT, SIGTERM, SIGHUP or SIGPIPE ends this program. At most 8
// files are watched at a time. More files are ignored.
void RemoveOnSignal(const std::string& path);
// Like RemoveOnSignal, for a folder with all its contents. This program must have created the folder.
void RemoveFolderOnSignal(const std::string& path);
// Ends the effect of the functions above for this file or folder.
void KeepOnSignal(const std::string& path);

}  // namespace vramscope::collector
