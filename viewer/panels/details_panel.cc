// SPDX-License-Identifier: Apache-2.0
// The details next to the views: the state at the moment, with the categories as a clickable legend; the
// selected range; the card of the selected block.
#include <fmt/format.h>

#include <algorithm>

#include "profiler/text/format.h"
#include "viewer/model/range_summary.h"
#include "viewer/panels/app.h"

namespace vramscope::viewer {
namespace {

using classify::Category;

void ShowCategory(App& app, DeviceView& device, Category category, uint64_t bytes, uint64_t whole) {
  const Look& l = look();
  const CategoryMask mask = MaskOf(category);
  const CategoryMask chosen = device.choice.Of(device.series);
  const bool shown = (chosen & mask) != 0;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  const float height = Em(1.35f);
  ImGui::PushID(classify::Info(category).key);
  const bool clicked = ImGui::InvisibleButton("category", {width, height});
  app.NameLastItem(std::string("category.") + classify::Info(category).key);
  if (clicked && ImGui::GetIO().KeyCtrl) {
    app.session.ShowCategories(chosen ^ mask);
  } else if (clicked) {
    app.session.ShowCategories(chosen == mask ? kAllCategories : mask);
    app.session.FilterBy("category", chosen == mask ? "" : classify::Info(category).key);
  }
  ImDrawList& list = *ImGui::GetWindowDrawList();
  if (ImGui::IsItemHovered()) {
    list.AddRectFilled(at, {at.x + width, at.y + height}, l.colors.raised, Em(0.2f));
    ImGui::SetTooltip("Click: show only this category. Ctrl+click: show or hide this category.");
  }
  const float share =
      whole == 0 ? 0 : static_cast<float>(static_cast<double>(bytes) / static_cast<double>(whole));
  const float box = Em(0.75f);
  const float middle = at.y + height / 2;
  const ImU32 color = ColorOf(category);
  const ImVec2 box_min = {at.x, middle - box / 2};
  const ImVec2 box_max = {at.x + box, middle + box / 2};
  if (shown) {
    list.AddRectFilled(box_min, box_max, color, 2);
  } else {
    list.AddRect(box_min, box_max, color, 2);
  }
  const float text_y = middle - l.fonts.text.size / 2;
  DrawText(list, l.fonts.text, {at.x + Em(1.2f), text_y}, shown ? l.colors.text : l.colors.dim,
           app.session.document()->WordsOf(category).name);
  const std::string size = text::FormatBytes(bytes);
  const std::string percent = text::FormatPercent(bytes, whole);
  const float mono_y = middle - l.fonts.mono.size / 2;
  DrawText(list, l.fonts.mono, {at.x + width - TextSize(l.fonts.mono, percent).x, mono_y}, l.colors.dim,
           percent);
  DrawText(list, l.fonts.mono, {at.x + width - Em(3.6f) - TextSize(l.fonts.mono, size).x, mono_y},
           l.colors.text, size);
  list.AddRectFilled({at.x, at.y + height - 2}, {at.x + width * share, at.y + height - 1},
                     WithAlpha(color, 0.8f));
  ImGui::PopID();
}

// A line over the timeline; a click shows or hides it.
void ShowLine(App& app, MemoryLine line, const std::optional<uint64_t>& bytes) {
  bool& shown = app.session.lines.shown[static_cast<size_t>(line)];
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 size = {ImGui::GetContentRegionAvail().x, ImGui::GetTextLineHeight()};
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const bool hovered =
      bytes && ImGui::IsMouseHoveringRect(at, {at.x + size.x, at.y + size.y}) && ImGui::IsWindowHovered();
  if (hovered) {
    list.AddRectFilled(at, {at.x + size.x, at.y + size.y}, look().colors.raised, Em(0.2f));
    ImGui::SetTooltip(
        "%s", shown ? "Click: hide this line of the timeline." : "Click: show this line in the timeline.");
    if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) shown = !shown;
  }
  ShowFact(Info(line).name, bytes ? text::FormatBytes(*bytes) : "not recorded");
  app.Name(fmt::format("line.{}", Info(line).key), at, {at.x + size.x, at.y + size.y});
  if (!bytes) return;
  const float y = at.y + size.y / 2;
  // In the margin, drawn like the line itself.
  const ImVec2 min = {at.x + Em(6.1f), y - 1};
  list.AddRectFilled(min, {min.x + Em(0.8f), y + 1}, WithAlpha(ColorOf(line), shown ? 1 : 0.25f));
}

// The bands of the timeline, where it is colored by line of code.
void ShowLines(App& app, DeviceView& device, uint64_t allocated) {
  const Look& l = look();
  app.lines.Update(*app.session.document(), device, app.session.wake());
  app.WaitFor(app.lines.busy());
  if (!app.lines.bands()) return ImGui::TextDisabled("Adding up by line of code ...");
  const LineBands& bands = *app.lines.bands();
  const LineBands::Bytes bytes = bands.After(app.session.place.moment, allocated);
  for (size_t i = LineBands::kCount; i-- > 0;) {
    const LineBand& band = bands.bands()[i];
    if (bytes[i] == 0 || band.text.empty()) continue;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    const float height = Em(1.3f);
    ImGui::Dummy({width, height});
    app.NameLastItem(fmt::format("band.{}", i));
    if (ImGui::IsItemHovered())
      ImGui::SetTooltip("%s\n%s", band.text.c_str(), text::FormatPercent(bytes[i], allocated).c_str());
    const float middle = at.y + height / 2;
    const float box = Em(0.75f);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled({at.x, middle - box / 2}, {at.x + box, middle + box / 2}, FromRgb(band.rgb), 2);
    const std::string size = text::FormatBytes(bytes[i]);
    const float figures = TextSize(l.fonts.mono, size).x;
    const auto place = SourcePlaceOf(band.text);
    const std::string name =
        place ? fmt::format("{}:{}", place->path.substr(place->path.find_last_of("/\\") + 1), place->line)
              : band.text;
    DrawText(list, l.fonts.text, {at.x + Em(1.2f), middle - l.fonts.text.size / 2}, l.colors.text,
             FitText(l.fonts.text, name, width - figures - Em(2)));
    DrawText(list, l.fonts.mono, {at.x + width - figures, middle - l.fonts.mono.size / 2}, l.colors.text,
             size);
  }
}

void ShowMoment(App& app, DeviceView& device) {
  const Session& session = app.session;
  const model::EventIndex moment = session.place.moment;
  ShowHeading("At " + TimeText(*session.document()->run, static_cast<uint64_t>(session.MomentTime())));
  ImGui::TextDisabled("%s", session.MomentText().c_str());
  const uint64_t allocated = device.curve.AllocatedAfter(moment);
  ShowFact("Allocated", text::FormatBytes(allocated));
  ShowLine(app, MemoryLine::kReserved, device.reserved.After(moment));
  ShowLine(app, MemoryLine::kUsed, device.used.After(moment));
  if (device.capacity) ShowLine(app, MemoryLine::kCapacity, device.capacity);
  ImGui::Dummy({0, Em(0.2f)});
  if (session.coloring == Coloring::kStack && device.series.shown() == kAllCategories) {
    ShowLines(app, device, allocated);
    ImGui::Dummy({0, Em(0.2f)});
  }
  const classify::CategoryBytes bytes = device.series.After(moment);
  const classify::CategoryBytes at_peak = device.series.After(device.curve.peak().event);
  for (auto category = StackOrder().rbegin(); category != StackOrder().rend(); ++category) {
    const auto i = static_cast<size_t>(*category);
    const bool hidden = (device.choice.Of(device.series) & MaskOf(*category)) == 0;
    // A category with memory now or at the peak keeps its row, so that the list does not jump.
    if (bytes[i] != 0 || at_peak[i] != 0 || (hidden && bytes[i] != 0))
      ShowCategory(app, device, *category, bytes[i], allocated);
  }
  if (session.document()->snapshot != nullptr) {
    ImGui::PushTextWrapPos(0);
    ImGui::TextDisabled("Categories are guessed from the time of allocation: a snapshot names no tensors.");
    ImGui::PopTextWrapPos();
  }
}

void ShowRange(const Session& session, const DeviceView& device) {
  const TimeRange& range = *session.place.range;
  const RangeSummary summary = Summarize(*session.document(), device, range);
  ImGui::Dummy({0, Em(0.4f)});
  ShowHeading("Selected " + text::FormatDuration(static_cast<uint64_t>(range.end_ns - range.begin_ns)));
  ShowFact("Peak", text::FormatBytes(summary.peak.bytes));
  ShowFact("Live before", text::FormatBytes(summary.live_before));
  ShowFact("Live after", text::FormatBytes(summary.live_after));
  ShowFact("Allocated", fmt::format("{} in {}", text::FormatBytes(summary.allocated),
                                    text::FormatCount(summary.allocations)));
  ShowFact("Freed",
           fmt::format("{} in {}", text::FormatBytes(summary.freed), text::FormatCount(summary.frees)));
  ShowFact("Stayed", text::FormatBytes(summary.stayed));
}

}  // namespace

void ShowDetails(App& app, ImVec2 size) {
  BeginPanel("details", size);
  ImGui::BeginChild("scrolled", {0, 0});
  if (DeviceView* device = app.session.device(); device != nullptr) {
    ShowMoment(app, *device);
    ShowNotes(app);
    if (app.session.place.range) ShowRange(app.session, *device);
    if (app.session.place.range) ShowRangeChange(app, *device);
    if (app.session.place.block != model::kNone) ShowBlockCard(app);
  }
  ImGui::EndChild();
  EndPanel();
}

}  // namespace vramscope::viewer
