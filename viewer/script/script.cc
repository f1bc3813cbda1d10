// SPDX-License-Identifier: Apache-2.0
#include "viewer/script/script.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>
#include <thread>

#include "profiler/diff/words.h"
#include "profiler/fleet/words.h"
#include "viewer/model/small_file.h"
#include "viewer/script/cut_parts.h"

namespace vramscope::viewer {
namespace {

using Json = nlohmann::json;

struct Line {
  std::vector<std::string> words;
  std::string rest;  // everything after the first word
};

Line Split(const std::string& text) {
  Line line;
  std::istringstream stream(text);
  std::string word;
  while (stream >> word) line.words.push_back(word);
  if (line.words.size() > 1)
    line.rest = text.substr(text.find(line.words[1], text.find(line.words[0]) + line.words[0].size()));
  return line;
}

class Runner {
 public:
  explicit Runner(Headless& viewer) : viewer_(viewer), app_(viewer.app()) {}

  Status Run(const Line& line) {
    if (line.words[0] == "repeat") return Repeat(line);
    using Command = Status (Runner::*)(const Line&);
    static const std::map<std::string, Command> kCommands = {
        {"wait", &Runner::Wait},        {"move", &Runner::Move},
        {"click", &Runner::Click},      {"doubleclick", &Runner::DoubleClick},
        {"drag", &Runner::DragLeft},    {"dragright", &Runner::DragRight},
        {"wheel", &Runner::Wheel},      {"key", &Runner::Press},
        {"text", &Runner::Type},        {"goto", &Runner::GoTo},
        {"shot", &Runner::Shot},        {"expect", &Runner::Expect},
        {"state", &Runner::WriteState}, {"open", &Runner::Open}};
    const auto command = kCommands.find(line.words[0]);
    if (command == kCommands.end()) return Error{fmt::format("there is no command \"{}\".", line.words[0])};
    return (this->*command->second)(line);
  }

 private:
  Status Repeat(const Line& line) {
    const int times = line.words.size() < 3 ? 0 : std::atoi(line.words[1].c_str());
    if (times <= 0) return Error{"repeat needs a number and a command: repeat 10 key ]."};
    const Line command = Split(line.rest.substr(line.rest.find(line.words[2], line.words[1].size())));
    Status done;
    for (int i = 0; i < times && done.ok(); ++i) done = Run(command);
    return done;
  }

  ImGuiIO& io() { return ImGui::GetIO(); }

  Status Wait(const Line& line) {
    if (line.rest == "loaded") {
      viewer_.WaitUntilLoaded();
      return {};
    }
    if (line.rest == "answered") {
      viewer_.WaitForAnswers();
      return {};
    }
    if (line.words.size() == 3 && line.words[1] == "events") {
      WaitForEvents(static_cast<uint64_t>(std::atoll(line.words[2].c_str())));
      return {};
    }
    for (int i = std::atoi(line.rest.c_str()); i > 0; --i) viewer_.Frame();
    return {};
  }

  // Waits until the shown file has this many events, for a file that is being written.
  void WaitForEvents(uint64_t events) {
    const Session& session = app_.session;
    while (session.document() == nullptr || session.document()->run->event_count() < events) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      viewer_.Frame();
    }
  }

  // Moves the mouse to a place in the element. The words at [at] and [at + 1], if any, are fractions of its
  // size.
  Status MoveTo(const Line& line, size_t at) {
    if (line.words.size() < 2) return Error{"the name of an element is missing."};
    viewer_.Settle();  // where things are now, and stay
    if (!app_.elements.contains(line.words[1])) {
      app_.sought = line.words[1];
      viewer_.Rest(2);  // scrolls, then draws
      app_.sought.clear();
    }
    const auto element = app_.elements.find(line.words[1]);
    if (element == app_.elements.end()) {
      std::string names;
      for (const auto& [name, rectangle] : app_.elements) names += (names.empty() ? "" : ", ") + name;
      return Error{fmt::format("\"{}\" is not on the screen; the elements are: {}.", line.words[1], names)};
    }
    const bool given = line.words.size() > at + 1;
    const float x = given ? std::strtof(line.words[at].c_str(), nullptr) : 0.5f;
    const float y = given ? std::strtof(line.words[at + 1].c_str(), nullptr) : 0.5f;
    const Rectangle& where = element->second;
    io().AddMousePosEvent(where.min.x + (where.max.x - where.min.x) * x,
                          where.min.y + (where.max.y - where.min.y) * y);
    viewer_.Frame();
    return {};
  }

  void Button(int button, bool down) {
    io().AddMouseButtonEvent(button, down);
    viewer_.Frame();
  }

  Status Move(const Line& line) { return MoveTo(line, 2); }
  Status Click(const Line& line) {
    // Long enough after the last click not to be a double click.
    viewer_.Rest(20);
    VRAMSCOPE_TRY(MoveTo(line, 2));
    Button(0, true);
    Button(0, false);
    viewer_.Rest(1);
    return {};
  }
  Status DoubleClick(const Line& line) {
    VRAMSCOPE_TRY(Click(line));
    Button(0, true);
    Button(0, false);
    viewer_.Frame();
    return {};
  }
  Status Drag(const Line& line, int button) {
    if (line.words.size() != 6) return Error{"drag needs two places: drag NAME X Y X Y."};
    VRAMSCOPE_TRY(MoveTo(line, 2));
    const ImVec2 from = io().MousePos;
    const Rectangle where = app_.elements[line.words[1]];
    const ImVec2 to = {
        where.min.x + (where.max.x - where.min.x) * std::strtof(line.words[4].c_str(), nullptr),
        where.min.y + (where.max.y - where.min.y) * std::strtof(line.words[5].c_str(), nullptr)};
    Button(button, true);
    for (int i = 1; i <= 4; ++i) {
      const float share = static_cast<float>(i) / 4;
      io().AddMousePosEvent(from.x + (to.x - from.x) * share, from.y + (to.y - from.y) * share);
      viewer_.Frame();
    }
    Button(button, false);
    viewer_.Frame();
    return {};
  }
  Status DragLeft(const Line& line) { return Drag(line, 0); }
  Status DragRight(const Line& line) { return Drag(line, 1); }
  Status Wheel(const Line& line) {
    if (line.words.size() != 5) return Error{"wheel needs a place and a number: wheel NAME X Y NOTCHES."};
    VRAMSCOPE_TRY(MoveTo(line, 2));
    io().AddMouseWheelEvent(0, std::strtof(line.words[4].c_str(), nullptr));
    viewer_.Frame();
    viewer_.Rest(1);
    return {};
  }
  Status Press(const Line& line) {
    KeyPress press;
    if (!KeyFromName(line.rest, press)) return Error{fmt::format("there is no key \"{}\".", line.rest)};
    app_.keys.Push(press);
    FeedKey(press, true);
    viewer_.Frame();
    FeedKey(press, false);
    viewer_.Frame();
    return {};
  }
  Status Type(const Line& line) {
    for (const char c : line.rest) {
      io().AddInputCharacter(static_cast<unsigned char>(c));
      viewer_.Frame();
    }
    viewer_.Frame();
    return {};
  }
  Status GoTo(const Line& line) {
    const Status went = app_.session.GoTo(line.rest);
    viewer_.Frame();
    return went;
  }
  Status Shot(const Line& line) { return viewer_.Shot(line.rest); }
  Status Open(const Line& line) {
    app_.session.Open(line.rest);
    viewer_.Frame();
    return {};
  }
  std::string StateAfterFrame() {
    std::vector<std::string> cut_texts;
    SeekCutTexts(&cut_texts);
    viewer_.Frame();
    SeekCutTexts(nullptr);
    return StateJson(app_, cut_texts);
  }

  Status WriteState(const Line& line) {
    return WriteSmallFile(line.rest, StateAfterFrame() + "\n") ? Status()
                                                               : Error{line.rest + ": cannot be written."};
  }

  Status Expect(const Line& line) {
    if (line.words.size() < 3) return Error{"expect needs a name, an operator and a value."};
    Json json = Json::parse(StateAfterFrame());
    std::istringstream path(line.words[1]);
    std::string part;
    while (std::getline(path, part, '.')) {
      const bool number = json.is_array();
      const size_t index = number ? static_cast<size_t>(std::atoi(part.c_str())) : 0;
      if (number ? index >= json.size() : !json.is_object() || !json.contains(part)) {
        return Error{fmt::format("the state has no {}.", line.words[1])};
      }
      json = number ? Json(json[index]) : Json(json[part]);
    }
    const std::string found = json.is_string() ? json.get<std::string>() : json.dump();
    const std::string& sign = line.words[2];
    const size_t sign_at = line.rest.find(" " + sign);
    const size_t begin = line.rest.find_first_not_of(' ', sign_at + 1 + sign.size());
    const std::string wanted = begin == std::string::npos ? "" : line.rest.substr(begin);
    const double a = json.is_number() ? json.get<double>() : std::strtod(found.c_str(), nullptr);
    const double b = std::strtod(wanted.c_str(), nullptr);
    const bool holds = sign == "="    ? found == wanted
                       : sign == "!=" ? found != wanted
                       : sign == "<"  ? a < b
                       : sign == ">"  ? a > b
                       : sign == "~"  ? found.find(wanted) != std::string::npos
                                      : false;
    return holds ? Status() : Error{fmt::format("{} is {}, not {} {}.", line.words[1], found, sign, wanted)};
  }

  Headless& viewer_;
  App& app_;
};

}  // namespace

std::string StateJson(const App& app, const std::vector<std::string>& cut_texts) {
  Json json = Json::parse(app.session.ToJson());
  json["dark"] = app.layout.dark;
  json["text_size"] = app.layout.text_size;
  json["help"] = app.show_help;
  json["live_rows"] = app.live.rows().size();
  json["live_bytes"] = app.live.bytes();
  json["live_error"] = app.live.filter_error();
  json["saved"] = app.saved.path;
  json["first_row"] = app.live.rows().empty() ? Json() : Json(app.live.rows()[0].block + 1);
  json["matched"] = app.live.matched();
  json["view_rows"] = std::ranges::count(ViewTable(app), '\n');
  const char* copied = ImGui::GetClipboardText();
  json["copied"] =
      copied == nullptr ? "" : std::string_view(copied).substr(0, std::string_view(copied).find('\n'));
  json["said"] = app.said;
  json["details"] = app.layout.details;
  json["table"] = app.layout.table;
  json["notes"] = Json::array();
  if (app.session.file() != nullptr) {
    for (const Note& note : app.session.file()->notes.all())
      json["notes"].push_back({{"at_ns", note.at_ns}, {"text", note.text}});
  }
  json["compared"] = {app.compared.before, app.compared.after};
  json["hover_ns"] = app.hover_ns ? Json(*app.hover_ns) : Json();
  const auto& comparison = app.comparison.comparison();
  json["compare"] = comparison && comparison->ok() ? Json(diff::Headline(comparison->value().diff)) : Json();
  json["whatif"] = Json::parse(app.whatif.ToJson());
  json["owners"] = {{"zoom", app.owners.zoom()}, {"shown_bytes", app.owners.shown().bytes}};
  const auto& leaks = app.leaks.answer();
  json["leaks"] = leaks && leaks->ok() ? Json(LeaksHeadline(leaks->value())) : Json();
  const auto& job = app.job.answer();
  Json& ranks = json["ranks"] = Json::object();
  ranks["hover"] = app.hover_cell;
  if (job) {
    ranks["headline"] = fleet::Headline(job->job);
    ranks["rows"] = job->heat.rows.size();
    ranks["reasons"] = job->reasons;
    ranks["findings"] = Json::array();
    for (const fleet::Finding& finding : job->job.findings) ranks["findings"].push_back(finding.text);
  }
  Json& legend = json["legend"] = Json::array();
  for (const LegendEntry& entry : app.map.legend()) legend.push_back(entry.text);
  const AddressTimePicture& addresses = app.address_time.picture();
  json["address_time"] = {{"blocks", addresses.blocks.size()},
                          {"merged", addresses.merged_blocks},
                          {"low", app.address_low},
                          {"high", app.address_high}};
  json["hover_block"] = app.hover_block == model::kNone ? Json() : Json(app.hover_block + 1);
  json["source"] = nullptr;
  json["source_from"] = app.source && app.source->excerpt.ok() ? Json(app.source->excerpt->from) : Json();
  if (app.source && !app.source->excerpt.ok()) json["source"] = app.source->excerpt.error().sentence;
  if (app.source && app.source->excerpt.ok())
    json["source"] = app.source->excerpt->lines[app.source->place.line - app.source->excerpt->first];
  json["hover_range"] = app.hover_range;
  const DeviceView* device = app.session.device();
  json["lanes"] = device == nullptr ? 0 : device->lanes.lanes().size();
  json["pins"] = app.show_pins;
  const auto& over_time = app.fragmentation_history.over_time();
  json["settings_tried"] = Json::array();
  for (size_t i = 0; over_time && i < over_time->outcomes.size(); ++i) {
    const SettingsOutcome& outcome = over_time->outcomes[i];
    json["settings_tried"].push_back(
        {{"settings", outcome.settings}, {"peak_reserved_bytes", outcome.peak_reserved}});
  }
  json["cut"] = CutParts();
  for (const std::string& text : cut_texts) json["cut"].push_back(text);
  json["vertices"] = ImGui::GetIO().MetricsRenderVertices;
  return json.dump(2);
}

Status RunScript(const std::string& path, Headless& viewer) {
  const auto script = ReadSmallFile(path);
  if (!script) return Error{path + ": cannot be read."};
  std::istringstream file(*script);
  Runner runner(viewer);
  std::string text;
  for (int number = 1; std::getline(file, text); ++number) {
    const Line line = Split(text);
    if (line.words.empty() || line.words[0][0] == '#') continue;
    const Status done = runner.Run(line);
    if (!done.ok()) return Error{fmt::format("{}:{}: {}", path, number, done.error().sentence)};
  }
  return {};
}

}  // namespace vramscope::viewer
