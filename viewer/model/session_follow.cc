// SPDX-License-Identifier: Apache-2.0
// Files that are still being written: read again in the background, then replaced.
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "viewer/model/session.h"

namespace vramscope::viewer {
namespace {

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

uint64_t BytesOf(const std::string& path) {
  struct stat facts = {};
  return stat(path.c_str(), &facts) == 0 ? static_cast<uint64_t>(facts.st_size) : 0;
}

// The same stretch of a longer run. A view of everything still shows everything, and a view of the end
// follows the end.
TimeView Grown(const TimeView& before, double whole_ns) {
  TimeView view(whole_ns);
  if (before.all()) return view;
  const bool at_end = before.end() >= before.whole() && before.whole() < whole_ns;
  const double by = at_end ? whole_ns - before.whole() : 0;
  view.Show(before.begin() + by, before.end() + by);
  return view;
}

}  // namespace

bool OpenFile::live() const { return tail.live(Now()); }

void Session::Follow(OpenFile& file) {
  if (file.next) {
    if (!file.next->finished()) return;
    if (file.next->error().empty()) return Exchange(file);
    file.tail.Loaded(Now(), file.next->file_bytes(), file.next->seconds(),
                     false);  // half a block; again later
    file.next.reset();
    return;
  }
  if (!file.document || !file.job->finished()) return;
  if (!file.followed) {
    file.followed = true;
    file.tail.Loaded(Now(), file.job->file_bytes(), file.job->seconds(), file.job->closed());
  }
  if (!file.tail.ShouldLook(Now()) || !file.tail.Grown(Now(), BytesOf(file.job->path()))) return;
  file.next = std::make_unique<LoadJob>(file.job->path(), wake_);
}

void Session::Exchange(OpenFile& file) {
  auto old = std::make_unique<OpenFile>();
  old->document = std::move(file.document);
  old->layouts = std::move(file.layouts);
  old->job = std::move(file.job);
  file.job = std::move(file.next);
  file.document = file.job->TakeDocument();
  file.layouts.clear();
  file.layouts.resize(file.document->devices.size());
  TakeLayouts(file);
  file.tail.Loaded(Now(), file.job->file_bytes(), file.job->seconds(), file.job->closed());
  KeepPlaces(file, *old->document);
  replaced_.push_back(std::move(old));
  ++generation_;
}

// Events and blocks keep their numbers: a trace only grows at its end. Devices are sorted by their memory,
// and their order may have changed.
void Session::KeepPlaces(const OpenFile& file, const Document& before) {
  const Document& now = *file.document;
  const auto identity = [](const Document& document, const DeviceView& device) {
    const model::Device& of = document.run->devices[device.index];
    return std::pair(of.process, of.code);
  };
  const auto device_now = [&](size_t index) -> size_t {
    if (index >= before.devices.size()) return 0;
    const auto same = std::find_if(now.devices.begin(), now.devices.end(), [&](const auto& device) {
      return identity(now, *device) == identity(before, *before.devices[index]);
    });
    return same == now.devices.end() ? 0 : static_cast<size_t>(same - now.devices.begin());
  };
  for (size_t i = 0; i < before.devices.size(); ++i) {
    const CategoryMask shown = before.devices[i]->choice.Of(before.devices[i]->series);
    if (shown != kAllCategories) now.devices[device_now(i)]->series.Show(shown);
  }
  const auto keep = [&](Place& each) {
    if (each.file >= files_.size() || files_[each.file].get() != &file) return;
    const bool at_end = each.moment + 1 >= before.run->event_count();
    each.device = device_now(each.device);
    const TimeAxis axis = each.window.axis();
    each.window = Grown(each.window, static_cast<double>(now.run->times.last_ns()));
    if (each.device < now.devices.size())
      each.window.SetScale(ScaleFor(now, *now.devices[each.device], axis));
    if (at_end && now.run->event_count() != 0) each.moment = now.run->event_count() - 1;
  };
  for (Place& each : back_) keep(each);
  for (Place& each : forward_) keep(each);
  if (before.devices.empty() && this->file() == &file) return ShowFile(place.file);  // now there is something
  keep(place);
  keep(seen_);
}

}  // namespace vramscope::viewer
