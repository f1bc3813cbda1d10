// SPDX-License-Identifier: Apache-2.0
// The fragmentation view, from top to bottom: reserved memory at the moment by cause; the largest request
// that would succeed; the segments that hold free memory back, with the blocks that pin them; the whole run.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "profiler/fragmentation/cause.h"
#include "profiler/fragmentation/words.h"
#include "profiler/text/format.h"
#include "viewer/panels/named_table.h"

namespace vramscope::viewer {
namespace {

using fragmentation::MomentAnswer;
using fragmentation::SegmentAnswer;

// One row of the waterfall: it begins where the row above ends.
void WaterfallRow(const char* name, const char* meaning, uint64_t bytes, uint64_t before, uint64_t whole,
                  ImU32 color) {
  const Look& l = look();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  const float height = Em(1.45f);
  ImGui::Dummy({width, height});
  if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s", meaning);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float text_y = at.y + (height - l.fonts.text.size) / 2;
  DrawText(list, l.fonts.text, {at.x, text_y}, l.colors.text, FitText(l.fonts.text, name, Em(9.5f)));
  const std::string size = text::FormatBytes(bytes);
  DrawText(list, l.fonts.mono, {at.x + Em(15) - TextSize(l.fonts.mono, size).x, text_y + Em(0.08f)},
           l.colors.text, size);
  const float left = at.x + Em(16);
  const float room = width - Em(16);
  if (room < Em(2) || whole == 0) return;
  const auto place = [&](uint64_t value) {
    return left + room * static_cast<float>(static_cast<double>(value) / static_cast<double>(whole));
  };
  list.AddRectFilled({left, at.y + Em(0.3f)}, {left + room, at.y + height - Em(0.3f)}, l.colors.free, 2);
  list.AddRectFilled({place(before), at.y + Em(0.3f)},
                     {std::max(place(before + bytes), place(before) + 1), at.y + height - Em(0.3f)}, color,
                     2);
}

void ShowCauses(allocator::Model model, const MomentAnswer& answer) {
  const fragmentation::Domain& total = answer.metrics.total;
  const uint64_t rest = answer.metrics.causes.Sum();
  ShowHeading(fmt::format("{} reserved, {} of it not requested ({})", text::FormatBytes(total.reserved),
                          text::FormatBytes(rest), text::FormatPercent(rest, total.reserved)));
  WaterfallRow("requested", "requested bytes of live blocks", total.requested, 0, total.reserved,
               look().colors.accent);
  uint64_t before = total.requested;
  for (const fragmentation::Cause& cause : fragmentation::kCauses) {
    const uint64_t bytes = answer.metrics.causes.*cause.bytes;
    if (bytes != 0)
      WaterfallRow(cause.name, cause.MeaningFor(model), bytes, before, total.reserved, FromRgb(cause.rgb));
    before += bytes;
  }
}

void ShowRequests(const fragmentation::Subject& subject, const MomentAnswer& answer) {
  ImGui::Dummy({0, Em(0.3f)});
  ShowHeading("Largest request that would be served");
  size_t shown = 0;
  for (const fragmentation::LargestRequest& request : answer.largest_requests) {
    if (++shown > 3) break;
    const std::string domain = fragmentation::DomainTitle(subject, request.pool, request.stream);
    std::string text = text::FormatBytes(request.from_free_blocks) + " from free blocks";
    if (request.from_driver)
      text += fmt::format(", {} from the driver", text::FormatBytes(*request.from_driver));
    if (!domain.empty()) text = domain + ": " + text;
    ShowWrapped(text);
  }
}

void ShowHistogram(const MomentAnswer& answer, float height) {
  const Look& l = look();
  ImGui::Dummy({0, Em(0.3f)});
  ShowHeading(fmt::format("Free runs by size: {} in {}", text::FormatBytes(answer.metrics.space.bytes),
                          text::FormatCount(answer.metrics.space.runs)));
  const auto& classes = answer.metrics.histogram;
  if (classes.empty()) return ImGui::TextDisabled("No memory is free.");
  uint64_t most = 1;
  for (const fragmentation::FreeRuns& runs : classes) most = std::max(most, runs.bytes);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float step = std::min(Em(5), ImGui::GetContentRegionAvail().x / static_cast<float>(classes.size()));
  const float bottom = at.y + height - Em(1.4f);
  const float label = TextSize(l.fonts.small, "1,023 MiB").x + Em(0.3f);
  const auto every = static_cast<size_t>(std::ceil(label / step));
  ImDrawList& list = *ImGui::GetWindowDrawList();
  for (size_t i = 0; i < classes.size(); ++i) {
    const float x = at.x + step * static_cast<float>(i);
    const float bar = (bottom - at.y - Em(1.2f)) *
                      static_cast<float>(static_cast<double>(classes[i].bytes) / static_cast<double>(most));
    list.AddRectFilled({x, bottom - std::max(bar, 1.0f)}, {x + step - Em(0.3f), bottom}, l.colors.accent, 2);
    if (i % every == 0 && x + label <= at.x + ImGui::GetContentRegionAvail().x)
      DrawText(list, l.fonts.small, {x, bottom + Em(0.2f)}, l.colors.dim,
               text::FormatBytes(classes[i].at_least));
    DrawText(list, l.fonts.small, {x, bottom - bar - Em(1.05f)}, l.colors.text,
             text::FormatCount(classes[i].runs));
  }
  ImGui::Dummy({step * static_cast<float>(classes.size()), height});
}

void ShowPins(App& app, const NamedTable& table, const SegmentAnswer& segment) {
  for (const fragmentation::PinAnswer& pin : segment.pinned_by) {
    const auto category = classify::CategoryFromKey(pin.text.category);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImU32 color = ColorOf(category.value_or(classify::Category::kUnattributed));
    ImGui::GetWindowDrawList()->AddRectFilled({at.x, at.y + Em(0.2f)}, {at.x + Em(0.65f), at.y + Em(0.85f)},
                                              color, 2);
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + Em(1));
    const std::string text = fmt::format("{}  {}", fragmentation::BlockTitle(pin.block, pin.text),
                                         text::FormatBytes(pin.block.bytes));
    ImGui::PushID(static_cast<int>(pin.block.address >> 9));
    const std::string fitted = table.Fit(text);
    if (ImGui::Selectable(fitted.c_str()) && pin.text.number) {
      app.session.Remember();
      app.session.SelectBlock(static_cast<model::BlockId>(*pin.text.number - 1));
    }
    ImGui::PopID();
  }
  const size_t more =
      segment.pinned.pins.size() - std::min(segment.pinned.pins.size(), segment.pinned_by.size());
  if (more != 0) ImGui::TextDisabled("and %s more", text::FormatCount(more).c_str());
}

void ShowSegmentFigures(NamedTable& table, const fragmentation::Subject& subject,
                        const SegmentAnswer& segment) {
  PushFont(look().fonts.mono);
  table.NextFigure();
  ImGui::TextUnformatted(text::FormatBytes(segment.pinned.held_back).c_str());
  table.NextFigure();
  ImGui::TextUnformatted(text::FormatBytes(segment.segment.bytes).c_str());
  ImGui::PopFont();
  const std::string domain = fragmentation::DomainTitle(subject, segment.domain.pool, segment.domain.stream);
  if (!domain.empty() && ImGui::IsItemHovered()) ImGui::SetTooltip("%s", domain.c_str());
}

void ShowSegments(App& app, const fragmentation::Subject& subject, const std::vector<SegmentAnswer>& segments,
                  ImGuiTableFlags flags) {
  ShowHeading("Segments with pinned free memory, and what pins them");
  if (segments.empty()) return ShowNote("No segment is pinned: all free memory could return to the driver.");
  NamedTable table;
  if (!table.Begin("segments", {{"Held back", 5}, {"Segment", 5}, {"Pinned by", 14}}, 2,
                   flags | ImGuiTableFlags_RowBg))
    return;
  for (const SegmentAnswer& segment : segments) {
    table.NextName();
    ShowPins(app, table, segment);
    ShowSegmentFigures(table, subject, segment);
  }
  table.End();
}

}  // namespace

void ShowFragmentation(App& app, ImVec2 size) {
  Session& session = app.session;
  const LayoutView* layout = session.layout();
  if (layout == nullptr) return ShowWhyEmpty(size, "Placing every block at its address ...");
  if (layout->walk == nullptr) return ShowWhyEmpty(size, layout->why_not);
  app.fragmentation.Update(*layout, LayoutMoment(*session.document(), *layout, session.place.moment));
  const MomentAnswer& answer = app.fragmentation.answer();
  if (answer.metrics.total.reserved == 0)
    return ShowWhyEmpty(size, "The caching allocator holds no memory at this moment.");
  ImGui::BeginChild("fragmentation", size);
  size.x = ImGui::GetContentRegionAvail().x;
  // Shows the whole run below the moment if there is room for both.
  const float history = size.y > Em(26) ? std::clamp(size.y * 0.3f, Em(8), Em(13)) : 0;
  const TwoParts parts = SplitView({size.x, size.y - history}, size.x * 0.52f, 0);
  BeginPart("causes", parts.first);
  ShowCauses(layout->subject.history.model, answer);
  ShowRequests(layout->subject, answer);
  const float rest = parts.beside ? ImGui::GetContentRegionAvail().y - Em(2) : Em(8);
  ShowHistogram(answer, std::clamp(rest, Em(5), Em(11)));
  ImGui::EndChild();
  if (parts.beside) ImGui::SameLine(0, Em(1));
  BeginPart("pins", parts.second);
  ShowSegments(app, layout->subject, app.fragmentation.segments(),
               parts.beside ? ImGuiTableFlags_ScrollY : ImGuiTableFlags_None);
  ImGui::EndChild();
  if (history > 0)
    ShowFragmentationHistory(app, *layout, {size.x, history - ImGui::GetStyle().ItemSpacing.y});
  ImGui::EndChild();
}

}  // namespace vramscope::viewer
