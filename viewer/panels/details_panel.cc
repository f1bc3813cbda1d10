// SPDX-License-Identifier: Apache-2.0
// Next to the views: the state at the moment, with the categories as a clickable legend; the selected range
// or block.
#include <fmt/format.h>

#include <algorithm>

#include "profiler/report/owners.h"
#include "profiler/text/format.h"
#include "profiler/text/harmless.h"
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
    ImGui::SetTooltip("Click: only this one. Ctrl+click: with or without it.");
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
  const float text_y = middle - l.fonts.text->FontSize / 2;
  DrawText(list, l.fonts.text, {at.x + Em(1.2f), text_y}, shown ? l.colors.text : l.colors.dim,
           classify::Info(category).name);
  const std::string size = text::FormatBytes(bytes);
  const std::string percent = text::FormatPercent(bytes, whole);
  const float mono_y = middle - l.fonts.mono->FontSize / 2;
  DrawText(list, l.fonts.mono, {at.x + width - TextSize(l.fonts.mono, percent).x, mono_y}, l.colors.dim,
           percent);
  DrawText(list, l.fonts.mono, {at.x + width - Em(3.6f) - TextSize(l.fonts.mono, size).x, mono_y},
           l.colors.text, size);
  list.AddRectFilled({at.x, at.y + height - 2}, {at.x + width * share, at.y + height - 1},
                     WithAlpha(color, 0.8f));
  ImGui::PopID();
}

void ShowMoment(App& app, DeviceView& device) {
  const Session& session = app.session;
  const model::EventIndex moment = session.place.moment;
  ShowHeading("At " + TimeText(*session.document()->run, static_cast<uint64_t>(session.MomentTime())));
  ImGui::TextDisabled("%s", session.MomentText().c_str());
  const uint64_t allocated = device.curve.AllocatedAfter(moment);
  ShowFact("Allocated", text::FormatBytes(allocated));
  // Drawn like the lines over the stack.
  const auto line = [](const char* label, ImU32 color, const std::optional<uint64_t>& bytes) {
    ShowFact(label, bytes ? text::FormatBytes(*bytes) : "not recorded");
    if (!bytes) return;
    const ImVec2 min = ImGui::GetItemRectMin();
    const float y = (min.y + ImGui::GetItemRectMax().y) / 2;
    ImGui::GetWindowDrawList()->AddRectFilled({min.x - Em(1.3f), y - 1}, {min.x - Em(0.4f), y + 1}, color);
  };
  line("Reserved", look().colors.reserved, device.reserved.After(moment));
  line("Device used", look().colors.used, device.used.After(moment));
  ImGui::Dummy({0, Em(0.2f)});
  const classify::CategoryBytes bytes = device.series.After(moment);
  const classify::CategoryBytes at_peak = device.series.After(device.curve.peak().event);
  for (auto category = StackOrder().rbegin(); category != StackOrder().rend(); ++category) {
    const auto i = static_cast<size_t>(*category);
    const bool hidden = (device.choice.Of(device.series) & MaskOf(*category)) == 0;
    // A category with memory now or at the peak keeps its row, so that the list does not jump.
    if (bytes[i] != 0 || at_peak[i] != 0 || (hidden && bytes[i] != 0))
      ShowCategory(app, device, *category, bytes[i], allocated);
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

constexpr uint32_t kLinesAround = 4;

// The file's text in the trace.
std::optional<std::string_view> EmbeddedText(const model::Run& run, const SourcePlace& place) {
  const trace::SourceFiles& files = run.source->source_files();
  const auto found = files.find(place.path);
  return found == files.end() ? std::nullopt : std::optional(found->second);
}

// The lines around a frame's line, and whether they are from disk or from the trace.
void ShowSource(const OpenSource& source) {
  const Look& l = look();
  if (!source.excerpt.ok()) {
    ImGui::PushTextWrapPos(0);
    ImGui::PushStyleColor(ImGuiCol_Text, l.colors.warning);
    ImGui::TextUnformatted(source.excerpt.error().sentence.c_str());
    ImGui::PopStyleColor();
    ImGui::PopTextWrapPos();
    return;
  }
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float width = ImGui::GetContentRegionAvail().x;
  const float row = Em(1.25f);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const auto& lines = source.excerpt->lines;
  list.AddRectFilled(at, {at.x + width, at.y + row * static_cast<float>(lines.size())}, l.colors.raised,
                     Em(0.2f));
  for (size_t i = 0; i < lines.size(); ++i) {
    const uint32_t number = source.excerpt->first + static_cast<uint32_t>(i);
    const float top = at.y + row * static_cast<float>(i);
    const bool here = number == source.place.line;
    if (here) list.AddRectFilled({at.x, top}, {at.x + width, top + row}, l.colors.selected);
    const float y = top + (row - l.fonts.mono->FontSize) / 2;
    const std::string label = std::to_string(number);
    DrawText(list, l.fonts.mono, {at.x + Em(2.2f) - TextSize(l.fonts.mono, label).x, y}, l.colors.dim, label);
    DrawText(list, l.fonts.mono, {at.x + Em(2.8f), y}, here ? l.colors.text : l.colors.dim,
             FitText(l.fonts.mono, lines[i], width - Em(3)));
    ImGui::InvisibleButton(label.c_str(), {width, row});
    if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s", lines[i].c_str());
    ImGui::SetCursorScreenPos({at.x, top + row});
  }
  ImGui::PushTextWrapPos(0);
  ImGui::PushFont(l.fonts.small);
  ImGui::TextDisabled("%s", text::OneLine(source.excerpt->from).c_str());
  ImGui::PopFont();
  ImGui::PopTextWrapPos();
  ImGui::Dummy({0, Em(0.2f)});
}

// Innermost first; clicking a frame that names a file opens the lines around its own.
void ShowFrames(App& app, const std::vector<trace::StringId>& frames) {
  const model::Run& run = *app.session.document()->run;
  ImGui::Dummy({0, Em(0.2f)});
  ImGui::TextDisabled("ALLOCATED AT");
  ImGui::PushFont(look().fonts.mono);
  size_t number = 0;
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame, ++number) {
    const std::string whole(run.Text(static_cast<uint32_t>(*frame)));
    const std::string text = text::OneLine(whole);
    ImGui::PushID(static_cast<int>(number));
    const std::optional<SourcePlace> place = SourcePlaceOf(whole);
    const bool open = app.source && app.source->frame == whole;
    ImGui::PushStyleColor(ImGuiCol_Text, open ? look().colors.accent : look().colors.text);
    ImGui::TextUnformatted(FitText(look().fonts.mono, text, ImGui::GetContentRegionAvail().x).c_str());
    ImGui::PopStyleColor();
    app.NameLastItem(fmt::format("frame.{}", number));
    if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s%s", text.c_str(), place ? "\nClick: the source." : "");
    if (place && ImGui::IsItemHovered() && ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
      open ? app.source.reset()
           : (void)app.source.emplace(
                 OpenSource{whole, *place, ReadSource(*place, kLinesAround, EmbeddedText(run, *place))});
    }
    if (app.source && app.source->frame == whole) ShowSource(*app.source);
    ImGui::PopID();
  }
  ImGui::PopFont();
}

void ShowBlock(App& app) {
  const Session& session = app.session;
  const Document& document = *session.document();
  const model::Run& run = *document.run;
  const model::BlockId id = session.place.block;
  const model::Block& block = run.blocks[id];
  const model::EventIndex seen =
      block.AliveAfter(session.place.moment) ? session.place.moment : block.alloc_event;
  const classify::Stretch stretch = document.analysis->categories().At(id, seen);
  const std::string name(document.analysis->names().Of(id));
  classify::Origins origins(run, document.analysis->training());
  const report::Place place = report::PlaceOf(*document.analysis, origins, id);
  ImGui::Dummy({0, Em(0.4f)});
  ShowHeading(name.empty() ? fmt::format("Block {}", text::FormatCount(id + 1)) : text::OneLine(name));
  ShowFact("Size", fmt::format("{} ({} B)", text::FormatBytes(block.size), text::FormatCount(block.size)));
  if (block.slack != model::Block::kUnknownSlack) {
    ShowFact("Requested", fmt::format("{} B, waste {}", text::FormatCount(block.size - block.slack),
                                      text::FormatPercent(block.slack, block.size)));
  }
  ShowFact("Address", fmt::format("{:#x}", block.address));
  const uint64_t born = run.times.TimeOf(block.alloc_event);
  const bool ends = block.free_event != model::kNever;
  ShowFact("Lifetime", fmt::format("{} to {}", TimeText(run, born),
                                   ends ? TimeText(run, run.times.TimeOf(block.free_event)) : "the end"));
  ShowFact("Category", classify::Info(stretch.category).name);
  if (!place.module.empty()) ShowFact("Module", text::OneLine(place.module));
  const std::string_view op = place.node.empty() ? place.op : place.node;
  if (!op.empty()) ShowFact("Op", text::OneLine(op));
  if (place.as_in_step != 0) ShowFact("", fmt::format("as in step {}", place.as_in_step));
  ImGui::PushTextWrapPos(0);
  ImGui::TextDisabled("%s", classify::ProofSentence(stretch.proof));
  ImGui::PopTextWrapPos();
  const std::vector<trace::StringId> frames = run.source->Stack(block.stack);
  if (!frames.empty()) ShowFrames(app, frames);
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
    if (app.session.place.block != model::kNone) ShowBlock(app);
  }
  ImGui::EndChild();
  EndPanel();
}

}  // namespace vramscope::viewer
