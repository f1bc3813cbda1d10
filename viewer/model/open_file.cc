// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/open_file.h"

#include <sys/stat.h>

#include <chrono>
#include <utility>

namespace vramscope::viewer {
namespace {

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

uint64_t BytesOf(const std::string& path) {
  struct stat facts = {};
  return stat(path.c_str(), &facts) == 0 ? static_cast<uint64_t>(facts.st_size) : 0;
}

}  // namespace

std::string OpenFile::name() const { return job->path().substr(job->path().find_last_of('/') + 1); }

bool OpenFile::live() const { return tail.live(Now()); }

void OpenFile::TakeLayouts() {
  model::DeviceIndex device = 0;
  while (auto layout = job->TakeLayout(device)) layouts[document->PlaceOf(device)] = std::move(layout);
}

std::unique_ptr<OpenFile> OpenFile::Follow(const std::function<void()>& wake) {
  if (next) {
    if (!next->finished()) return nullptr;
    if (next->error().empty()) return Exchange();
    tail.Loaded(Now(), next->file_bytes(), next->seconds(),
                false);  // the last block was incomplete; read it again later
    next.reset();
    return nullptr;
  }
  if (!document || !job->finished()) return nullptr;
  if (!followed) {
    followed = true;
    tail.Loaded(Now(), job->file_bytes(), job->seconds(), job->closed());
  }
  if (!tail.ShouldLook(Now()) || !tail.Grown(Now(), BytesOf(job->path()))) return nullptr;
  next = std::make_unique<LoadJob>(job->path(), wake);
  return nullptr;
}

std::unique_ptr<OpenFile> OpenFile::Exchange() {
  auto old = std::make_unique<OpenFile>();
  old->document = std::move(document);
  old->layouts = std::move(layouts);
  old->job = std::move(job);
  job = std::move(next);
  document = job->TakeDocument();
  layouts.clear();
  layouts.resize(document->devices.size());
  TakeLayouts();
  tail.Loaded(Now(), job->file_bytes(), job->seconds(), job->closed());
  return old;
}

}  // namespace vramscope::viewer
