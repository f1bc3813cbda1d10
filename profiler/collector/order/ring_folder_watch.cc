// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/order/ring_folder_watch.h"

#include <fmt/format.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "profiler/collector/order/ring_room.h"
#include "trace_format/ring.h"

namespace vramscope::collector {

namespace fs = std::filesystem;

RingFolderWatch::RingFolderWatch(std::string folder)
    : folder_(std::move(folder)), inotify_(inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
  if (inotify_ >= 0 && inotify_add_watch(inotify_, folder_.c_str(), IN_CREATE | IN_MOVED_TO) < 0) {
    close(std::exchange(inotify_, -1));
  }
}

RingFolderWatch::~RingFolderWatch() {
  if (inotify_ >= 0) close(inotify_);
}

void RingFolderWatch::ReadEvents() {
  alignas(inotify_event) char buffer[16384];
  ssize_t length = 0;
  while ((length = read(inotify_, buffer, sizeof(buffer))) > 0) {
    for (const char* at = buffer; at < buffer + length;) {
      const auto* event = reinterpret_cast<const inotify_event*>(at);
      if ((event->mask & IN_Q_OVERFLOW) != 0) ListFolder();
      // This includes names that existed before: the pid may have been reused.
      if (event->len > 0) waiting_.emplace_back(event->name);
      at += sizeof(inotify_event) + event->len;
    }
  }
}

void RingFolderWatch::ListFolder() {
  std::error_code ignored;
  for (fs::directory_iterator it(folder_, ignored), end; it != end; it.increment(ignored)) {
    std::string name = it->path().filename().string();
    if (!known_.contains(name)) waiting_.push_back(std::move(name));
  }
}

bool RingFolderWatch::TryOpen(const std::string& name, std::vector<Found>& found) {
  if (name.ends_with(trace::kProgramSuffix)) {
    const std::string stem = name.substr(0, name.size() - std::string_view(trace::kProgramSuffix).size());
    programs_[stem + ".ring"] = fmt::format("{}/{}", folder_, name);
    return true;
  }
  if (!ParseRingFileName(name)) return true;
  const std::string path = fmt::format("{}/{}", folder_, name);
  auto file = RingFile::Open(path);
  if (file.ok() && *file == nullptr) return false;
  if (file.ok()) {
    found.push_back({path, std::move(*file)});
  } else if (refused_.size() < kMaxRefused) {
    refused_.push_back(file.error().sentence);
  }
  return true;
}

std::vector<RingFolderWatch::Found> RingFolderWatch::Collect() {
  if (inotify_ >= 0) {
    ReadEvents();
  } else {
    ListFolder();
  }
  std::vector<Found> found;
  known_.insert(waiting_.begin(), waiting_.end());
  std::erase_if(waiting_, [&](const std::string& name) { return TryOpen(name, found); });
  std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
    return a.file->facts().created_monotonic_ns < b.file->facts().created_monotonic_ns;
  });
  return found;
}

uint64_t RingFolderWatch::unrecorded() const { return UnrecordedProcesses(folder_); }

}  // namespace vramscope::collector
