// SPDX-License-Identifier: Apache-2.0
// Copies files from another machine with ssh: `vramscope view ssh://host/path/run.vms`.
//
//   ssh host cat FILE        writes a copy to a temporary folder; the viewer reads this copy
//   ssh host tail -f FILE    appends to the copy while the original grows
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "trace_format/result.h"

namespace vramscope::cli {

struct RemoteFile {
  std::string host;  // host, or user@host
  std::string port;  // "" = the default port of ssh
  std::string path;
};
[[nodiscard]] bool IsRemote(std::string_view word);
// Parses "ssh://[user@]host[:port]/path". A path that begins with "/~/" is in the home folder of the user.
[[nodiscard]] Result<RemoteFile> ParseRemote(std::string_view word);

// Copies the file of every ssh:// argument in `words` to this machine. Runs `work` in a child process, with
// the paths of the copies instead of the ssh:// arguments. While `work` runs, a copy of a trace grows with
// the original. Removes the copies afterwards. Returns the exit status of `work`.
[[nodiscard]] Result<int> WithRemoteFiles(std::vector<std::string> words,
                                          const std::function<int(const std::vector<std::string>&)>& work);

}  // namespace vramscope::cli
