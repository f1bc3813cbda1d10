// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/session_link.h"

#include <fmt/format.h>

#include <string_view>

#include "profiler/text/number.h"
#include "viewer/model/session.h"

namespace vramscope::viewer {

std::string LinkTo(const Session& session) {
  if (session.document() == nullptr) return "";
  std::string link = fmt::format("{}@{:.0f}", session.document()->path, session.MomentTime());
  if (session.device() == nullptr) return link;
  if (session.coloring != Coloring::kCategory) link += fmt::format(",color:{}", Info(session.coloring).key);
  if (session.place.device != 0) link += fmt::format(",device:{}", InLink(session.device()->title));
  if (session.place.tab != Tab::kTimeline) link += fmt::format(",view:{}", TabKey(session.place.tab));
  if (!session.place.window.all())
    link += fmt::format(",shown:{:.0f}-{:.0f}", session.place.window.begin(), session.place.window.end());
  if (session.place.block != model::kNone) link += fmt::format(",block:{}", session.place.block + 1);
  if (!session.filter.empty()) link += ",filter:" + InLink(session.filter);
  const Note* note = session.file()->notes.At(static_cast<uint64_t>(session.MomentTime()));
  if (note != nullptr) link += ",note:" + InLink(note->text);
  return link;
}

std::optional<Status> GoToView(Session& session, const std::string& word) {
  const auto value_of = [&](std::string_view key) -> std::optional<std::string> {
    if (!word.starts_with(key)) return std::nullopt;
    return FromLink(std::string_view(word).substr(key.size()));
  };
  if (const auto view = value_of("view:")) {
    const auto tab = TabFromKey(*view);
    if (!tab) return Status(Error{"There is no view \"" + *view + "\"."});
    session.place.tab = *tab;
    session.tab_chosen = true;
  } else if (const auto title = value_of("device:")) {
    for (size_t i = 0; i < session.document()->devices.size(); ++i) {
      if (session.document()->devices[i]->title == *title && i != session.place.device) session.ShowDevice(i);
    }
  } else if (const auto shown = value_of("shown:")) {
    const size_t dash = shown->find('-');
    const auto begin = text::ParseNumber<uint64_t>(shown->substr(0, dash));
    const auto end =
        dash == std::string::npos ? std::nullopt : text::ParseNumber<uint64_t>(shown->substr(dash + 1));
    if (!begin || !end) return Status(Error{"shown: needs two times in nanoseconds, as in shown:0-1500000."});
    session.place.window.Show(static_cast<double>(*begin), static_cast<double>(*end));
  } else if (const auto block = value_of("block:")) {
    const auto number = text::ParseNumber<uint64_t>(*block);
    if (!number || *number == 0 || *number > session.document()->run->blocks.size())
      return Status(Error{"There is no block " + *block + "."});
    session.SelectBlock(static_cast<model::BlockId>(*number - 1));
  } else if (const auto words = value_of("filter:")) {
    session.filter = *words;
  } else if (const auto text = value_of("note:")) {
    // A note from a link is shown, but saved only when the user writes a note: a link changes no file.
    session.file()->notes.Set(static_cast<uint64_t>(session.MomentTime()), *text);
  } else {
    return std::nullopt;
  }
  return Status();
}

}  // namespace vramscope::viewer
