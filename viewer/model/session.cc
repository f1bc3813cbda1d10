// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "profiler/report/device_choice.h"
#include "profiler/report/moment_choice.h"
#include "profiler/report/request.h"
#include "profiler/text/format.h"
#include "viewer/model/first_window.h"
#include "viewer/model/line_bands.h"
#include "viewer/model/session_link.h"

namespace vramscope::viewer {
namespace {

using model::EventIndex;

nlohmann::json BytesOrNull(const std::optional<uint64_t>& bytes) {
  return bytes.has_value() ? nlohmann::json(*bytes) : nlohmann::json();
}

std::shared_ptr<const TimeScale> ScaleFor(const Document& document, const DeviceView& device, TimeAxis axis) {
  return TimeScale::For(axis, *document.run, document.training(device).steps());
}

}  // namespace

void Session::Open(const std::string& path) {
  auto file = std::make_unique<OpenFile>();
  file->job = std::make_unique<LoadJob>(path, wake_);
  file->notes = Notes::Read(path);
  files_.push_back(std::move(file));
  place = Place{.file = files_.size() - 1, .tab = place.tab, .window = TimeView(TimeView::kShortest)};
  history_.Settle(place);
}

void Session::Close(size_t file) {
  if (file >= files_.size()) return;
  files_.erase(files_.begin() + static_cast<ptrdiff_t>(file));
  history_.Clear();  // its places may be in the file
  const Tab tab = place.tab;
  place = Place{};
  place.tab = tab;
  if (!files_.empty()) ShowFile(std::min(file, files_.size() - 1));
  history_.Settle(place);
}

namespace {

report::Request RequestFor(const model::Run& run, model::DeviceIndex device) {
  report::Request request;
  request.device = run.devices[device].name;
  request.pid = run.processes[run.devices[device].process].info.pid;
  return request;
}

}  // namespace

bool Session::loading() const {
  return std::any_of(files_.begin(), files_.end(), [](const auto& file) { return !file->job->finished(); });
}

void Session::Update() {
  for (const auto& file : files_) {
    if (!file->document) {
      file->document = file->job->TakeDocument();
      if (file->document) Arrive(*file);
    }
    if (!file->document) continue;  // it may arrive with all its layouts after the question above
    for (const auto& device : file->document->devices) device->choice.Update(device->series, wake_);
    file->TakeLayouts();
    if (auto old = file->Follow(wake_)) {
      KeepPlaces(*file, *old->document);
      replaced_.push_back(std::move(old));
      ++generation_;
    }
  }
}

void Session::Arrive(OpenFile& arrived) {
  arrived.layouts.resize(arrived.document->devices.size());
  if (&arrived != file()) return;
  ShowFile(place.file);
  history_.Settle(place);
}

void Session::ShowFile(size_t index) {
  const Tab tab = place.tab;
  const TimeAxis axis = time_axis();
  place = Place{.file = index, .tab = tab, .window = TimeView(TimeView::kShortest)};
  if (document() == nullptr) return;
  const auto last = static_cast<double>(document()->run->times.last_ns());
  place.window = document()->run->counts_events() ? TimeView::OfEvents(last) : TimeView(last);
  if (device() == nullptr) return;
  ShowTimeAxis(axis);
  SetMoment(device()->curve.peak().event);
  if (!coloring_chosen)
    coloring = LinesTellMore(*document(), *device()) ? Coloring::kStack : Coloring::kCategory;
  const auto [begin, end] = FirstWindow(*document(), *device());
  place.window.Show(begin, end);
  const auto failed =
      report::ChooseFailure(*document()->run, RequestFor(*document()->run, device()->index), 0);
  if (!failed) return;
  SetMoment(document()->run->out_of_memory[failed->index].event);  // what users look for first
  if (!tab_chosen) place.tab = Tab::kOutOfMemory;
}

void Session::ShowDevice(size_t index) {
  if (document() == nullptr || index >= document()->devices.size()) return;
  place.device = index;
  place.block = model::kNone;
  if (place.window.scale() != nullptr)  // another process has other steps
    place.window.SetScale(ScaleFor(*document(), *device(), time_axis()));
}

DeviceView* Session::device() const {
  const Document* open = document();
  return open == nullptr || place.device >= open->devices.size() ? nullptr
                                                                 : open->devices[place.device].get();
}

const LayoutView* Session::layout() const {
  return device() == nullptr ? nullptr : file()->layouts[place.device].get();
}

// Events and blocks keep their numbers: a trace only grows at its end. Devices are sorted by their memory,
// and their order may have changed.
void Session::KeepPlaces(const OpenFile& file, const Document& before) {
  if (before.devices.empty() && this->file() == &file) return ShowFile(place.file);  // now there is something
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
    each.window = each.window.OfLonger(static_cast<double>(now.run->times.last_ns()));
    if (each.device < now.devices.size())
      each.window.SetScale(ScaleFor(now, *now.devices[each.device], axis));
    if (at_end && now.run->event_count() != 0) each.moment = now.run->event_count() - 1;
  };
  keep(place);
  history_.ForEach(keep);
}

void Session::ShowTimeAxis(TimeAxis axis) {
  if (device() == nullptr || axis == time_axis()) return;
  place.window.SetScale(ScaleFor(*document(), *device(), axis));
}

void Session::ShowAtSameTime(size_t file, size_t device, double later_ns) {
  if (file == place.file) return ShowDevice(device);
  const Place before = place;
  const double moment_ns = MomentTime();
  ShowFile(file);
  place.tab = before.tab;
  ShowDevice(device);
  place.window.Show(before.window.begin() + later_ns, before.window.end() + later_ns);
  SetMomentAt(moment_ns + later_ns);
}

ListedBlocks Session::RangeEvents() const {
  const auto event_at = [&](double time_ns) -> EventIndex {
    const EventIndex event =
        document()->run->times.LastEventAt(time_ns <= 0 ? 0 : static_cast<uint64_t>(time_ns));
    return event == model::kNever ? 0 : event;
  };
  return {ListedBlocks::Kind::kRange, event_at(std::min(place.range->begin_ns, place.range->end_ns)),
          event_at(std::max(place.range->begin_ns, place.range->end_ns))};
}

ListedBlocks Session::BlocksListed() const {
  if (table_shows == TableShows::kRun) return {ListedBlocks::Kind::kRun};
  const bool range = table_shows == TableShows::kByRange && place.range && document() != nullptr;
  return range ? RangeEvents() : ListedBlocks{};
}

void Session::FilterBy(std::string_view column, std::string_view value) {
  std::string words;
  const std::string prefix = std::string(column) + ":";
  for (std::string_view rest = filter; !rest.empty();) {
    const size_t space = rest.find(' ');
    const std::string_view word = rest.substr(0, space);
    rest = space == std::string_view::npos ? std::string_view() : rest.substr(space + 1);
    if (!word.empty() && !word.starts_with(prefix)) words += (words.empty() ? "" : " ") + std::string(word);
  }
  std::string safe(value);  // a word has no spaces; '*' stands for any
  std::replace(safe.begin(), safe.end(), ' ', '*');
  if (!value.empty()) words += (words.empty() ? "" : " ") + prefix + safe;
  filter = words;
}

double Session::MomentTime() const {
  return document() == nullptr ? 0 : static_cast<double>(document()->run->times.TimeOf(place.moment));
}

std::string Session::MomentText() const {
  if (device() == nullptr) return "";
  const timeline::Training& training = document()->training(*device());
  const timeline::Step* step = training.StepAt(place.moment);
  const timeline::Phase phase = timeline::PhaseOf(training.SpanAt(place.moment).part);
  const std::string where = step == nullptr ? "outside of all steps" : fmt::format("step {}", step->number);
  return phase == timeline::Phase::kOther ? where : where + ", " + timeline::PhaseName(phase);
}

void Session::SetMoment(EventIndex event) {
  if (document() == nullptr || document()->run->event_count() == 0) return;
  place.moment = std::min(event, document()->run->event_count() - 1);
}

void Session::SetMomentAt(double time_ns) {
  if (document() == nullptr) return;
  const EventIndex event =
      document()->run->times.LastEventAt(time_ns <= 0 ? 0 : static_cast<uint64_t>(time_ns));
  SetMoment(event == model::kNever ? 0 : event);
}

void Session::StepMoment(int events) {
  if (events < 0 && place.moment < static_cast<EventIndex>(-events)) return SetMoment(0);
  SetMoment(place.moment + static_cast<EventIndex>(events));
  place.window.Reveal(MomentTime());
}

void Session::StepTraining(int by) {
  if (device() == nullptr) return;
  const std::vector<timeline::Step>& steps = document()->training(*device()).steps();
  if (steps.empty()) return;
  // The step that holds the moment, or the last one before it.
  auto next = std::upper_bound(steps.begin(), steps.end(), place.moment,
                               [](EventIndex at, const timeline::Step& step) { return at < step.begin; });
  const ptrdiff_t here = next - steps.begin() - 1;
  const ptrdiff_t there = std::clamp<ptrdiff_t>(here + by, 0, static_cast<ptrdiff_t>(steps.size()) - 1);
  const timeline::Step& step = steps[static_cast<size_t>(there)];
  SetMoment(device()->curve.PeakWithin(step.begin, std::max(step.end, step.begin + 1)).event);
  place.window.Reveal(MomentTime());
}

void Session::SelectBlock(model::BlockId block) { place.block = block; }

void Session::ShowCategories(CategoryMask categories) {
  if (device() != nullptr) device()->choice.Ask(device()->series, categories, wake_);
}

void Session::Play() {
  if (document() == nullptr) return;
  Remember();
  playing_ = true;
  played_to_ns_ = MomentTime();
  if (place.moment + 1 >= document()->run->event_count()) played_to_ns_ = place.window.begin();
}

void Session::ChangeSpeed(int tens) { speed_ = std::clamp(speed_ * std::pow(10.0, tens), 0.001, 1000.0); }

void Session::Advance(double seconds) {
  history_.See(place, seconds, [&](const Place& left) {
    return !playing_ && left.window.whole() > TimeView::kShortest && left.file < files_.size();
  });
  if (!playing_ || document() == nullptr) return;
  played_to_ns_ += seconds * 1e9 * speed_;
  if (played_to_ns_ >= place.window.whole()) playing_ = false;
  SetMomentAt(std::min(played_to_ns_, place.window.whole()));
  place.window.Reveal(played_to_ns_);
}

Status Session::GoTo(const std::string& text) {
  if (device() == nullptr) return Error{"No run is open, so there is no place to go to."};
  Remember();
  std::string_view rest = text;
  const timeline::Step* step = nullptr;
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    VRAMSCOPE_TRY(GoToOne(std::string(rest.substr(0, comma)), step));
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  return {};
}

Status Session::GoToOne(const std::string& word, const timeline::Step*& step) {
  const DeviceView& of = *device();
  const timeline::Training& training = document()->training(of);
  if (const auto done = GoToView(*this, word)) return *done;
  constexpr std::string_view kColor = "color:";
  if (word.starts_with(kColor)) {
    const auto by = ColoringFromKey(std::string_view(word).substr(kColor.size()));
    if (!by)
      return Error{"Blocks are colored by category, age, size, stream, stack or step, as in color:size."};
    Color(*by);
    return {};
  }
  const Result<report::MomentSpec> spec = report::ParseMoment(word);
  if (!spec.ok()) return Error{spec.error().sentence};
  using Kind = report::MomentSpec::Kind;
  if (spec->kind == Kind::kTime) {
    SetMomentAt(static_cast<double>(spec->value));
  } else if (spec->kind == Kind::kMonotonic) {
    const uint64_t start = document()->run->source->clock().start_monotonic_ns;
    SetMomentAt(spec->value < start ? 0 : static_cast<double>(spec->value - start));
  } else if (spec->kind == Kind::kStep) {
    step = training.StepNumber(static_cast<uint32_t>(spec->value));
    if (step == nullptr)
      return Error{fmt::format("There is no step {}; the run has {}.", spec->value, training.steps().size())};
    const auto begin = static_cast<double>(document()->run->times.TimeOf(step->begin));
    const auto end = static_cast<double>(document()->run->times.TimeOf(step->end));
    place.window.Show(begin - (end - begin) * 0.05, end + (end - begin) * 0.05);
    SetMoment(of.curve.PeakWithin(step->begin, std::max(step->end, step->begin + 1)).event);
  } else if (spec->kind == Kind::kPeak && step != nullptr) {  // of the step that was named before
    SetMoment(of.curve.PeakWithin(step->begin, std::max(step->end, step->begin + 1)).event);
  } else {
    const model::Run& run = *document()->run;
    const auto event =
        VRAMSCOPE_TRY(report::FindEvent(run, of.curve, training, RequestFor(run, of.index), *spec));
    SetMoment(event == model::kNever ? 0 : event);
  }
  place.window.Reveal(MomentTime());
  return {};
}

std::string Session::Warning() const {
  if (document() == nullptr) return message;
  const trace::Damage& damage = document()->run->source->damage();
  if (!damage.sentence.empty() && !file()->live()) return damage.sentence;
  const uint64_t lost = document()->run->lost_events();
  if (!message.empty() || lost == 0) return message;
  return text::FormatCount(lost, "event") + " were lost during recording; totals after that may be wrong.";
}

std::string Session::ToJson() const {
  nlohmann::ordered_json json = {{"files", nlohmann::json::array()}, {"tab", TabKey(place.tab)}};
  for (const auto& each : files_) {
    json["files"].push_back({{"name", each->name()},
                             {"loaded", each->document != nullptr},
                             {"error", each->job->error()},
                             {"live", each->live()},
                             {"events", each->document ? each->document->run->event_count() : 0}});
  }
  json["filter"] = filter;
  constexpr std::array<const char*, 4> kListed = {"range", "live", "run", "events"};
  json["listed"] = kListed[static_cast<size_t>(table_shows)];
  json["link"] = LinkTo(*this);
  json["coloring"] = Info(coloring).key;
  json["playing"] = playing_;
  json["speed"] = speed_;
  json["message"] = message;
  json["warning"] = Warning();
  if (device() == nullptr) return json.dump(2);
  json["device"] = device()->title;
  json["begin_ns"] = static_cast<uint64_t>(place.window.begin());
  json["end_ns"] = static_cast<uint64_t>(place.window.end());
  json["time_axis"] = TimeAxisKey(time_axis());
  json["memory_zoom"] = {place.memory.low, place.memory.high};
  for (size_t i = 0; i < kMemoryLineCount; ++i) {
    const auto& info = Info(static_cast<MemoryLine>(i));
    json["lines"][info.key] = !lines.shown[i] ? "hidden" : lines.reached[i] ? "reached" : "shown";
  }
  json["moment"] = place.moment;
  json["moment_ns"] = static_cast<uint64_t>(MomentTime());
  json["moment_text"] = MomentText();
  json["allocated_bytes"] = device()->curve.AllocatedAfter(place.moment);
  json["reserved_bytes"] = BytesOrNull(device()->reserved.After(place.moment));
  json["device_used_bytes"] = BytesOrNull(device()->used.After(place.moment));
  const classify::CategoryBytes bytes = device()->series.After(place.moment);
  for (size_t i = 0; i < classify::kCategoryCount; ++i)
    json["categories"][classify::Info(static_cast<classify::Category>(i)).key] = bytes[i];
  json["layout"] = layout() != nullptr && layout()->walk != nullptr;
  json["block"] = place.block == model::kNone ? nlohmann::json() : nlohmann::json(place.block + 1);
  json["range"] = nullptr;
  if (place.range) json["range"] = {{"begin_ns", place.range->begin_ns}, {"end_ns", place.range->end_ns}};
  nlohmann::ordered_json& shown = json["shown_categories"] = nlohmann::json::array();
  for (size_t i = 0; i < classify::kCategoryCount; ++i) {
    const auto category = static_cast<classify::Category>(i);
    if ((device()->choice.Of(device()->series) & MaskOf(category)) != 0)
      shown.push_back(classify::Info(category).key);
  }
  return json.dump(2);
}

}  // namespace vramscope::viewer
