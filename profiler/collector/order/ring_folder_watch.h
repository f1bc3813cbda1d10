// SPDX-License-Identifier: Apache-2.0
// Tells of new ring files in the session folder, each once and when its header is complete.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "profiler/collector/order/ring_file.h"

namespace vramscope::collector {

class RingFolderWatch {
 public:
  // Where the kernel gives no watch (a limit per user), the folder is listed each time instead.
  explicit RingFolderWatch(std::string folder);
  ~RingFolderWatch();
  RingFolderWatch(const RingFolderWatch&) = delete;
  RingFolderWatch& operator=(const RingFolderWatch&) = delete;

  // Readable when a file has appeared; -1 when there is no watch.
  [[nodiscard]] int descriptor() const { return inotify_; }

  struct Found {
    std::string path;
    std::unique_ptr<RingFile> file;
  };
  // Files that have become ready since the last call, in the order in which they were made: a parent before
  // its forked child.
  std::vector<Found> Collect();

  // Programs that processes have noted, complete, since the last call: by the name of the process's ring
  // file, "4711.0.ring", the path. Each is there once; whoever takes it removes the file.
  std::map<std::string, std::string> TakePrograms() { return std::exchange(programs_, {}); }

  // One sentence for each of the first files that are no ring files.
  [[nodiscard]] const std::vector<std::string>& refused() const { return refused_; }
  // Processes that could make no ring file.
  [[nodiscard]] uint64_t unrecorded() const;

 private:
  static constexpr size_t kMaxRefused = 16;

  // Both add names to waiting_.
  void ReadEvents();
  void ListFolder();
  // True: nothing more to wait for.
  bool TryOpen(const std::string& name, std::vector<Found>& found);

  std::string folder_;
  int inotify_;
  std::set<std::string> known_;       // all names ever seen
  std::vector<std::string> waiting_;  // whose header is not complete
  std::vector<std::string> refused_;
  std::map<std::string, std::string> programs_;
};

}  // namespace vramscope::collector
