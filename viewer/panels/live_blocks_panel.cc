// SPDX-License-Identifier: Apache-2.0
// The blocks alive at the moment, those of a range or of the whole run, or the events: as a table.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "profiler/text/format.h"
#include "profiler/text/harmless.h"
#include "viewer/panels/app.h"

namespace vramscope::viewer {
namespace {

// `all`: the whole text for the tooltip, if the cell shows less of it.
void TextCell(std::string_view text, ImU32 color, std::string_view all = {}) {
  ImGui::TableNextColumn();
  if (text.empty()) return;
  const std::string whole = text::OneLine(text);
  const std::string fitted = FitText(look().fonts.text, whole, ImGui::GetContentRegionAvail().x);
  ImGui::PushStyleColor(ImGuiCol_Text, color);
  ImGui::TextUnformatted(fitted.c_str());
  ImGui::PopStyleColor();
  const std::string tip = all.empty() ? whole : text::OneLine(all);
  if (fitted != tip && ImGui::IsItemHovered()) ImGui::SetTooltip("%s", tip.c_str());
}

// "model.py:101 forward" of "forward (/src/model.py:101)": people recognize the end of a path.
std::string ShortLine(std::string_view frame) {
  const auto place = SourcePlaceOf(frame);
  if (!place) return std::string(frame);
  return fmt::format("{}:{} {}", place->path.substr(place->path.find_last_of("/\\") + 1), place->line,
                     place->function);
}

void NumberCell(const std::string& text, ImU32 color) {
  ImGui::TableNextColumn();
  const Font& font = look().fonts.mono;
  const float indent = ImGui::GetContentRegionAvail().x - TextSize(font, text).x;
  if (indent > 0) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + indent);
  // On the baseline of the larger letters next to it.
  ImGui::SetCursorPosY(ImGui::GetCursorPosY() + std::floor(look().fonts.text.size - font.size));
  PushFont(font);
  ImGui::PushStyleColor(ImGuiCol_Text, color);
  ImGui::TextUnformatted(text.c_str());
  ImGui::PopStyleColor();
  ImGui::PopFont();
}

void ShowRow(App& app, const LiveRow& row, int number) {
  const Look& l = look();
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  const bool selected = app.session.place.block == row.block;
  PushFont(l.fonts.mono);
  if (ImGui::Selectable(fmt::format("{}##{}", text::FormatCount(row.block + 1), row.block).c_str(), selected,
                        ImGuiSelectableFlags_SpanAllColumns)) {
    app.session.Remember();
    app.session.SelectBlock(selected ? model::kNone : row.block);
  }
  app.NameLastItem(fmt::format("live.row.{}", number));
  ImGui::PopFont();
  NumberCell(text::FormatBytes(row.bytes), l.colors.text);
  ImGui::TableNextColumn();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::GetWindowDrawList()->AddRectFilled({at.x, at.y + Em(0.2f)}, {at.x + Em(0.65f), at.y + Em(0.85f)},
                                            ColorOf(row.category), 2);
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + Em(1));
  ImGui::TextUnformatted(app.session.document()->WordsOf(row.category).name);
  if (row.guessed) {
    ImGui::SameLine(0, Em(0.3f));
    ImGui::TextDisabled("?");
    if (ImGui::IsItemHovered())
      ImGui::SetTooltip("%s",
                        "The category is guessed from the time of allocation: the file names no tensors.");
  }
  const bool ghost = row.name.empty() && row.before_recording;
  TextCell(ghost ? "allocated before recording began" : row.name, ghost ? l.colors.dim : l.colors.text);
  TextCell(row.module, l.colors.text);
  TextCell(row.op, l.colors.dim);
  TextCell(ShortLine(row.line), l.colors.dim, row.line);
  const std::string born = TimeText(*app.session.document()->run, row.born_ns);
  NumberCell(row.before_recording ? "before"
             : row.step == 0      ? born
                                  : fmt::format("{}, step {}", born, row.step),
             l.colors.dim);
  NumberCell(fmt::format("{:#x}", row.address), l.colors.dim);
}

// Scrolls to a block that was selected elsewhere, once.
void ScrollToSelection(App& app) {
  const model::BlockId selected = app.session.place.block;
  if (app.block_in_table == selected) return;
  app.block_in_table = selected;
  const auto& rows = app.live.rows();
  const auto row =
      std::find_if(rows.begin(), rows.end(), [&](const LiveRow& r) { return r.block == selected; });
  if (row == rows.end()) return;
  const float height = ImGui::GetTextLineHeight() + 2 * ImGui::GetStyle().CellPadding.y;
  const float top = static_cast<float>(row - rows.begin()) * height;
  const float seen = ImGui::GetWindowHeight() - 3 * height;
  if (top < ImGui::GetScrollY() || top > ImGui::GetScrollY() + seen)
    ImGui::SetScrollY(std::max(0.0f, top - seen / 2));
}

struct LiveHeader {
  const char* name;
  ImGuiTableColumnFlags flags;
  float width;  // in letter heights, or a share of the rest
  float from;   // width of the table, in letter heights, from which it is shown
  bool at_right = false;
};
constexpr ImGuiTableColumnFlags kFixed = ImGuiTableColumnFlags_WidthFixed;
constexpr ImGuiTableColumnFlags kStretch = ImGuiTableColumnFlags_WidthStretch;
constexpr LiveHeader kHeaders[] = {
    {"#", kFixed, 4.4f, 0},
    {"Size", kFixed | ImGuiTableColumnFlags_PreferSortDescending | ImGuiTableColumnFlags_DefaultSort, 5.2f, 0,
     true},
    {"Category", kFixed, 10, 0},
    {"Name", kStretch, 3, 0},
    {"Module", kStretch, 2, 32},
    {"Op", kStretch, 2, 46},
    {"Line", kStretch, 2, 39},
    {"Born", kFixed, 8, 54, true},
    {"Address", kFixed, 8.2f, 62, true},
};

// A narrow table leaves out columns, because texts cut to three letters are useless.
void SetUpColumns(float width) {
  for (const LiveHeader& header : kHeaders) {
    const bool fixed = (header.flags & kFixed) != 0;
    ImGui::TableSetupColumn(header.name,
                            header.flags | (width < header.from ? ImGuiTableColumnFlags_Disabled : 0),
                            fixed ? Em(header.width) : header.width);
  }
}

// Headers above numbers end where the numbers end.
void ShowHeaders() {
  ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
  for (int i = 0; i < static_cast<int>(std::size(kHeaders)); ++i) {
    if (!ImGui::TableSetColumnIndex(i)) continue;
    if (!kHeaders[i].at_right) {
      ImGui::TableHeader(kHeaders[i].name);
      continue;
    }
    const bool sorted = (ImGui::TableGetColumnFlags(i) & ImGuiTableColumnFlags_IsSorted) != 0;
    const float arrow = sorted ? ImGui::GetFontSize() * 0.65f + ImGui::GetStyle().FramePadding.x : 0;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float room = ImGui::GetContentRegionAvail().x - arrow - ImGui::CalcTextSize(kHeaders[i].name).x;
    ImGui::PushID(i);
    ImGui::TableHeader("");  // for clicks; the arrow is at its right end
    ImGui::PopID();
    ImGui::GetWindowDrawList()->AddText({at.x + std::max(room, 0.0f), at.y},
                                        ImGui::GetColorU32(ImGuiCol_Text), kHeaders[i].name);
  }
}

void ShowTable(App& app) {
  constexpr ImGuiTableFlags kFlags = ImGuiTableFlags_Sortable | ImGuiTableFlags_Resizable |
                                     ImGuiTableFlags_Reorderable | ImGuiTableFlags_Hideable |
                                     ImGuiTableFlags_RowBg | ImGuiTableFlags_ScrollY |
                                     ImGuiTableFlags_BordersInnerV | ImGuiTableFlags_NoSavedSettings;
  constexpr float kLeast = 31;  // text heights; for a number, a size, a category and a name
  const float width = std::max(ImGui::GetContentRegionAvail().x / Em(1), kLeast);
  if (!BeginWideTable("live", std::size(kHeaders), kFlags, Em(kLeast))) return;
  ImGui::TableSetupScrollFreeze(0, 1);
  SetUpColumns(width);
  ShowHeaders();
  if (const ImGuiTableSortSpecs* sort = ImGui::TableGetSortSpecs(); sort != nullptr && sort->SpecsCount > 0) {
    app.live.Sort(static_cast<LiveColumn>(sort->Specs[0].ColumnIndex),
                  sort->Specs[0].SortDirection == ImGuiSortDirection_Descending);
  }
  ScrollToSelection(app);
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(app.live.rows().size()));
  while (clipper.Step()) {
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i)
      ShowRow(app, app.live.rows()[static_cast<size_t>(i)], i);
  }
  ImGui::EndTable();
}

void Save(App& app) {
  Session& session = app.session;
  const auto path = SaveBeside(session.document()->path, session.place.moment, app.live.ToCsv());
  session.message = path.ok() ? "" : path.error().sentence;
  app.saved = {path.ok() ? *path : "", session.document()->path, session.place.moment, session.filter};
}

// "12 blocks, 1.5 MiB of 40", and where they were saved.
void ShowCount(const App& app, float width) {
  const LiveTable& live = app.live;
  std::string count =
      fmt::format("{}, {}", text::FormatCount(live.matched(), "block"), text::FormatBytes(live.bytes()));
  if (live.matched() != live.live_count())
    count = fmt::format("{} of {}, {}", text::FormatCount(live.matched()),
                        text::FormatCount(live.live_count(), "block"), text::FormatBytes(live.bytes()));
  if (live.busy())
    count += fmt::format(" · searching, {:.0f} %", 100 * live.share());
  else if (live.rows().size() < live.matched())
    count += fmt::format(" · the {} largest", text::FormatCount(live.rows().size()));
  const SavedTable& saved = app.saved;
  const bool here = !saved.path.empty() && saved.trace == app.session.document()->path &&
                    saved.moment == app.session.place.moment && saved.filter == app.session.filter;
  if (here) count += " · saved as " + text::OneLine(saved.path.substr(saved.path.rfind('/') + 1));
  ImGui::TextDisabled("%s", FitText(look().fonts.text, count, width).c_str());
  if (here && ImGui::IsItemHovered()) ImGui::SetTooltip("%s", text::OneLine(saved.path).c_str());
}

// The choice of what is listed: blocks alive at the moment or of the range, blocks of the whole run, events.
void ShowTableChoice(App& app) {
  using Shows = Session::TableShows;
  Session& session = app.session;
  const bool range = session.place.range.has_value();
  if (!range && session.table_shows == Shows::kLive) session.table_shows = Shows::kByRange;
  const auto choice = [&](const char* label, const char* name, Shows shows, bool active, const char* why) {
    ImGui::PushStyleColor(ImGuiCol_Button, active ? look().colors.selected : IM_COL32(0, 0, 0, 0));
    ImGui::PushStyleColor(ImGuiCol_Text, active ? look().colors.text : look().colors.dim);
    if (ImGui::Button(label)) session.table_shows = shows;
    ImGui::PopStyleColor(2);
    app.NameLastItem(name);
    if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s", why);
    ImGui::SameLine(0, Em(0.1f));
  };
  const Shows shown = session.table_shows;
  choice("Live blocks", "table.live", range ? Shows::kLive : Shows::kByRange,
         shown == Shows::kLive || (shown == Shows::kByRange && !range),
         "Blocks that are alive at the moment");
  if (range)
    choice("Of the range", "table.range", Shows::kByRange, shown == Shows::kByRange,
           "Blocks that lived at any time of the selected range");
  choice("Whole run", "table.run", Shows::kRun, shown == Shows::kRun, "All blocks that ever lived");
  choice("Events", "table.events", Shows::kEvents, shown == Shows::kEvents,
         "Allocations and frees, one after the other");
  ImGui::SameLine();
}

}  // namespace

void ShowLiveBlocks(App& app, ImVec2 size) {
  BeginPanel("live blocks", size);
  Session& session = app.session;
  if (session.device() == nullptr) {
    ShowWhyEmpty(ImGui::GetContentRegionAvail(),
                 session.document() == nullptr ? "" : "Nothing was allocated.");
    return EndPanel();
  }
  const bool events = session.table_shows == Session::TableShows::kEvents;
  if (!events) {
    app.live.Update(*session.document(), *session.device(), session.place.moment, session.filter,
                    session.BlocksListed());
    app.WaitFor(app.live.busy(), Waits::kNextFrame);
  }
  const LiveTable& live = app.live;
  ShowTableChoice(app);
  if (events) {
    ShowEvents(app);
    app.Name("live", ImGui::GetWindowPos(),
             {ImGui::GetWindowPos().x + size.x, ImGui::GetWindowPos().y + size.y});
    return EndPanel();
  }
  if (ImGui::GetContentRegionAvail().x < Em(26)) ImGui::NewLine();
  const float all = ImGui::GetContentRegionAvail().x;
  const float box = all < Em(30) ? all : std::min(Em(24), all * 0.42f);  // the hint needs 20
  const float button = Em(5.6f);
  const float controls = box + 2 * button + 2 * ImGui::GetStyle().ItemSpacing.x;
  const float room = all - controls - Em(1);
  ShowCount(app, room < Em(9) ? all : room);
  if (!live.filter_error().empty()) {
    StayOnLine(ImGui::CalcTextSize(live.filter_error().c_str()).x + controls + Em(1),
               ImGui::GetStyle().ItemSpacing.x);
    ImGui::PushStyleColor(ImGuiCol_Text, look().colors.warning);
    ShowWrapped(live.filter_error());
    ImGui::PopStyleColor();
  }
  StayOnLine(controls, Em(1));
  ImGui::SetCursorPosX(std::max(RightEdge() - controls, ImGui::GetCursorPosX()));
  ImGui::SetNextItemWidth(box);
  if (app.focus_filter) ImGui::SetKeyboardFocusHere();
  app.focus_filter = false;
  char text[256];
  std::strncpy(text, session.filter.c_str(), sizeof(text) - 1);
  text[sizeof(text) - 1] = '\0';
  if (ImGui::InputTextWithHint("##filter", "category:activation size>1MiB   (Ctrl+F)", text, sizeof(text))) {
    session.filter = text;
  }
  app.NameLastItem("filter");
  StayOnLine(button, ImGui::GetStyle().ItemSpacing.x);
  if (ImGui::Button("Copy CSV", {button, 0})) {
    ImGui::SetClipboardText(live.ToCsv().c_str());
    app.Say("table copied");
  }
  app.NameLastItem("copy");
  ImGui::SameLine();
  if (ImGui::Button("Save CSV", {button, 0})) Save(app);
  app.NameLastItem("save");
  if (ImGui::IsItemHovered()) ImGui::SetTooltip("Save the listed blocks as a file next to the trace.");
  if (live.rows().empty()) {
    ShowWhyEmpty(ImGui::GetContentRegionAvail(), live.busy() ? "Searching ..."
                                                 : live.live_count() != 0
                                                     ? "The filter hides all of these blocks."
                                                 : session.BlocksListed().kind == ListedBlocks::Kind::kLive
                                                     ? "Nothing is allocated at this moment."
                                                     : "No block lived in this range.");
  } else {
    ShowTable(app);
  }
  app.Name("live", ImGui::GetWindowPos(),
           {ImGui::GetWindowPos().x + size.x, ImGui::GetWindowPos().y + size.y});
  EndPanel();
}

}  // namespace vramscope::viewer
