// SPDX-License-Identifier: Apache-2.0
// Links: the moment, and what else one sees, as words after the file's name.
#include <fmt/format.h>

#include <string_view>

#include "profiler/text/number.h"
#include "viewer/model/session.h"

namespace vramscope::viewer {
std::string Session::Locator() const {
  if (document() == nullptr) return "";
  std::string link = fmt::format("{}@{:.0f}", document()->path, MomentTime());
  if (device() == nullptr) return link;
  if (coloring != Coloring::kCategory) link += fmt::format(",color:{}", Info(coloring).key);
  if (place.device != 0) link += fmt::format(",device:{}", InLink(device()->title));
  if (place.tab != Tab::kTimeline) link += fmt::format(",view:{}", TabKey(place.tab));
  if (!place.window.all())
    link += fmt::format(",shown:{:.0f}-{:.0f}", place.window.begin(), place.window.end());
  if (place.block != model::kNone) link += fmt::format(",block:{}", place.block + 1);
  if (!filter.empty()) link += ",filter:" + InLink(filter);
  const Note* note = file()->notes.At(static_cast<uint64_t>(MomentTime()));
  if (note != nullptr) link += ",note:" + InLink(note->text);
  return link;
}

std::optional<Status> Session::GoToView(const std::string& word) {
  const auto value_of = [&](std::string_view key) -> std::optional<std::string> {
    if (!word.starts_with(key)) return std::nullopt;
    return FromLink(std::string_view(word).substr(key.size()));
  };
  if (const auto view = value_of("view:")) {
    const auto tab = TabFromKey(*view);
    if (!tab) return Status(Error{"There is no view \"" + *view + "\"."});
    place.tab = *tab;
    tab_chosen = true;
  } else if (const auto title = value_of("device:")) {
    for (size_t i = 0; i < document()->devices.size(); ++i) {
      if (document()->devices[i]->title == *title && i != place.device) ShowDevice(i);
    }
  } else if (const auto shown = value_of("shown:")) {
    const size_t dash = shown->find('-');
    const auto begin = text::ParseNumber<uint64_t>(shown->substr(0, dash));
    const auto end =
        dash == std::string::npos ? std::nullopt : text::ParseNumber<uint64_t>(shown->substr(dash + 1));
    if (!begin || !end) return Status(Error{"shown: needs two times in nanoseconds, as in shown:0-1500000."});
    place.window.Show(static_cast<double>(*begin), static_cast<double>(*end));
  } else if (const auto block = value_of("block:")) {
    const auto number = text::ParseNumber<uint64_t>(*block);
    if (!number || *number == 0 || *number > document()->run->blocks.size())
      return Status(Error{"There is no block " + *block + "."});
    SelectBlock(static_cast<model::BlockId>(*number - 1));
  } else if (const auto words = value_of("filter:")) {
    filter = *words;
  } else if (const auto text = value_of("note:")) {
    // Seen, but kept only if one writes one: a link changes no file.
    file()->notes.Set(static_cast<uint64_t>(MomentTime()), *text);
  } else {
    return std::nullopt;
  }
  return Status();
}

}  // namespace vramscope::viewer
