// SPDX-License-Identifier: Apache-2.0
// Files and folders that must not stay when Ctrl-C or another signal ends this program in the middle of its
// work on them.
#pragma once

#include <string>

namespace vramscope::collector {

// From now on the file is removed when SIGINT, SIGTERM, SIGHUP or SIGPIPE ends this program; a signal that it
// ignores or handles stays as it is. At most 8 files at once; further ones are not watched.
void RemoveOnSignal(const std::string& path);
// The same for a folder with all that is in it, which this program has made.
void RemoveFolderOnSignal(const std::string& path);
// Not any more.
void KeepOnSignal(const std::string& path);

}  // namespace vramscope::collector
