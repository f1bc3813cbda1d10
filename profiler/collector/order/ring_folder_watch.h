// SPDX-License-Identifier: Apache-2.0
// Reports each new ring file in the session folder once, when its header is complete.
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
  // Watches the folder with inotify. If inotify is not available, each Collect() lists the folder.
  explicit RingFolderWatch(std::string folder);
  ~RingFolderWatch();
  RingFolderWatch(const RingFolderWatch&) = delete;
  RingFolderWatch& operator=(const RingFolderWatch&) = delete;

  // The inotify descriptor, readable when a file has appeared; -1 without inotify.
  [[nodiscard]] int descriptor() const { return inotify_; }

  struct Found {
    std::string path;
    std::unique_ptr<RingFile> file;
  };
  // Returns the new ring files since the last call, in order of creation. So a parent process comes before
  // its forked child.
  std::vector<Found> Collect();

  // Returns the recorded programs that were completed since the last call, as a map from the ring file
  // ("4711.0.ring") to the path of the program. The caller removes the program file.
  std::map<std::string, std::string> TakePrograms() { return std::exchange(programs_, {}); }

  // One sentence for each of the first 16 files that are not ring files.
  [[nodiscard]] const std::vector<std::string>& refused() const { return refused_; }
  // Number of processes that could not create a ring file.
  [[nodiscard]] uint64_t unrecorded() const;

 private:
  static constexpr size_t kMaxRefused = 16;

  // Both add names to waiting_.
  void ReadEvents();
  void ListFolder();
  // Returns false if the header is not complete yet: try again later.
  bool TryOpen(const std::string& name, std::vector<Found>& found);

  std::string folder_;
  int inotify_;
  std::set<std::string> known_;
  std::vector<std::string> waiting_;  // files whose header is not complete
  std::vector<std::string> refused_;
  std::map<std::string, std::string> programs_;
};

}  // namespace vramscope::collector
