// SPDX-License-Identifier: Apache-2.0
// Files that must not stay when Ctrl-C or another signal ends this program in the middle of writing them.
#pragma once

#include <string>

namespace vramscope::cli {

// From now on the file is removed when SIGINT, SIGTERM, SIGHUP or SIGPIPE ends this program; a signal that it
// ignores or handles stays as it is. At most 8 files at once; further ones are not watched.
void RemoveOnSignal(const std::string& path);
// Not any more.
void KeepOnSignal(const std::string& path);

}  // namespace vramscope::cli
