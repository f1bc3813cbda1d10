// SPDX-License-Identifier: Apache-2.0
#include "viewer/script/frame_times.h"

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>

#include "viewer/model/small_file.h"
#include "viewer/script/most_resident.h"

namespace vramscope::viewer {
namespace {

using OrderedJson = nlohmann::ordered_json;

double Clock(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

OrderedJson Summary(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  const auto at = [&](double share) {
    return seconds[static_cast<size_t>(share * static_cast<double>(seconds.size() - 1))] * 1e3;
  };
  return {{"frames", seconds.size()}, {"median_ms", at(0.5)}, {"p99_ms", at(0.99)}, {"longest_ms", at(1)}};
}

}  // namespace

FrameTimes::Frame::Frame(FrameTimes* times, const Session& session)
    : times_(times), session_(session), tab_(session.place.tab) {
  if (times_ != nullptr) begin_ = Clock(CLOCK_THREAD_CPUTIME_ID);
}

FrameTimes::Frame::~Frame() {
  if (times_ != nullptr) times_->Note(session_, tab_, Clock(CLOCK_THREAD_CPUTIME_ID) - begin_);
}

FrameTimes::FrameTimes()
    : begin_(std::chrono::steady_clock::now()), processor_begin_(Clock(CLOCK_PROCESS_CPUTIME_ID)) {}

FrameTimes::Reached FrameTimes::Now() const {
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(),
          Clock(CLOCK_PROCESS_CPUTIME_ID) - processor_begin_};
}

void FrameTimes::Note(const Session& session, Tab tab, double seconds) {
  if (everything_) return frames_[static_cast<size_t>(tab)].push_back(seconds);
  if (session.file() == nullptr) return;
  const bool drawn = session.document() != nullptr;
  if (!first_picture_ && (drawn || session.file()->job->preview().size() > 1)) first_picture_ = Now();
  if (!timeline_ && drawn) timeline_ = Now();
  if (drawn && !session.loading()) everything_ = Now();
}

Status FrameTimes::Write(const std::string& path, const Session& session) const {
  OrderedJson opening;
  const auto reached = [&](const char* name, const std::optional<Reached>& at) {
    if (at) opening[name] = {{"seconds", at->seconds}, {"processor_seconds", at->processor_seconds}};
  };
  reached("first_picture", first_picture_);
  reached("timeline", timeline_);
  reached("everything", everything_);
  OrderedJson views;
  std::vector<double> all;
  for (size_t tab = 0; tab < kTabCount; ++tab) {
    if (frames_[tab].empty()) continue;
    views[TabKey(static_cast<Tab>(tab))] = Summary(frames_[tab]);
    all.insert(all.end(), frames_[tab].begin(), frames_[tab].end());
  }
  if (!all.empty()) views["all"] = Summary(all);
  const uint64_t resident = MostResidentBytes();
  OrderedJson memory = {{"most_resident_bytes", resident}};
  if (const Document* document = session.document()) {
    const uint64_t events = document->run->event_count();
    memory["events"] = events;
    memory["bytes_per_event"] =
        static_cast<double>(resident) / static_cast<double>(std::max<uint64_t>(events, 1));
    memory["of_raw_events"] = static_cast<double>(resident) /
                              static_cast<double>(std::max<uint64_t>(events, 1) * sizeof(trace::Event));
  }
  const std::string text = OrderedJson{{"opening", opening}, {"memory", memory}, {"views", views}}.dump(2);
  return WriteSmallFile(path, text + "\n") ? Status() : Error{path + ": cannot be written."};
}

}  // namespace vramscope::viewer
