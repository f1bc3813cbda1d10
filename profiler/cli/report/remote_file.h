// SPDX-License-Identifier: Apache-2.0
// Files of another machine, fetched with ssh: `vramscope view ssh://host/path/run.vms`.
//
//   ssh host cat FILE  ──► copy in a folder of its own ◄── the viewer, which follows a trace that grows
//   ssh host tail -f   ──► appended to it
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "trace_format/result.h"

namespace vramscope::cli {

struct RemoteFile {
  std::string host;  // also user@host
  std::string port;  // "" = ssh's own
  std::string path;
};
[[nodiscard]] bool IsRemote(std::string_view word);
// "ssh://[user@]host[:port]/path"; "/~/run.vms" is in the home folder.
[[nodiscard]] Result<RemoteFile> ParseRemote(std::string_view word);

// Replaces every ssh:// word with the path of a copy. Runs `work` with these words in a child process. Copies
// of traces grow with their originals. Returns the exit status of `work`. Removes the copies.
[[nodiscard]] Result<int> WithRemoteFiles(std::vector<std::string> words,
                                          const std::function<int(const std::vector<std::string>&)>& work);

}  // namespace vramscope::cli
