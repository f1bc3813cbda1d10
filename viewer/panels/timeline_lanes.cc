// SPDX-License-Identifier: Apache-2.0
// The program's own ranges below the steps and phases of the timeline.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "profiler/text/format.h"
#include "profiler/text/harmless.h"
#include "viewer/panels/app.h"

namespace vramscope::viewer {
namespace {

constexpr float kRow = 1.15f;  // in Em
constexpr size_t kFewRows = 6;

// One color for each name, the same in every run.
ImU32 ColorOfName(std::string_view name) {
  uint32_t hash = 2166136261u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  const float hue = static_cast<float>(hash >> 8 & 0xff) / 256;
  return ImColor::HSV(hue, look().dark ? 0.38f : 0.24f, look().dark ? 0.48f : 0.90f);
}

void ShowRangeTooltip(App& app, const DeviceView& device, const RangeLanes::Lane& lane,
                      const LanePiece& piece) {
  const model::Run& run = *app.session.document()->run;
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {Em(0.7f), Em(0.5f)});
  ImGui::BeginTooltip();
  if (piece.count > 1) {
    ShowHeading(text::FormatCount(piece.count, "range") + " in this pixel");
    ImGui::TextDisabled("zoom in to separate them");
    app.hover_range = fmt::format("{} ranges", piece.count);
  } else {
    const RangeFacts facts = FactsOf(run, device.curve, lane.ranges[piece.first]);
    app.hover_range = facts.name;
    ShowHeading(facts.name.empty() ? "without a name" : facts.name);
    ImGui::TextUnformatted(
        (text::FormatDuration(facts.duration_ns) + (facts.ended ? "" : ", did not end")).c_str());
    ImGui::Text("peak %s within", text::FormatBytes(facts.peak.bytes).c_str());
    const auto grown = static_cast<uint64_t>(std::abs(facts.growth));
    if (facts.growth != 0)
      ImGui::Text("%s %s from begin to end", text::FormatBytes(grown).c_str(),
                  facts.growth > 0 ? "more" : "less");
    ImGui::TextDisabled("%s, thread %s", LaneTitle(lane.kind),
                        text::OneLine(run.threads[lane.thread].info.name).c_str());
  }
  ImGui::EndTooltip();
  ImGui::PopStyleVar();
}

void Select(App& app, const DeviceView& device, const RangeLanes::Lane& lane, const LanePiece& piece) {
  Session& session = app.session;
  session.Remember();
  session.place.range = TimeRange{device.lanes.BeginOf(lane.ranges[piece.first]),
                                  device.lanes.EndOf(lane.ranges[piece.first + piece.count - 1])};
  if (piece.count == 1)
    session.SetMoment(FactsOf(*session.document()->run, device.curve, lane.ranges[piece.first]).peak.event);
}

void DrawPiece(ImDrawList& list, const model::Run& run, const RangeLanes::Lane& lane, const LanePiece& piece,
               float left, float right, float top) {
  const Look& l = look();
  const float x0 = std::max(left, left + static_cast<float>(piece.x0));
  const float x1 = std::min(right, left + static_cast<float>(piece.x1));
  const ImVec2 max = {std::max(x0 + 1, x1 - (x1 - x0 > 4 ? 1 : 0)), top + Em(kRow) - 1};
  if (piece.count > 1) {
    list.AddRectFilled({x0, top}, max, WithAlpha(l.colors.dim, 0.55f));
    return;
  }
  const std::string_view name = run.Text(run.ranges[lane.ranges[piece.first]].name);
  list.AddRectFilled({x0, top}, max, ColorOfName(name));
  if (max.x - x0 < Em(2.5f)) return;
  const std::string text = FitText(l.fonts.small, text::OneLine(name), max.x - x0 - Em(0.5f));
  DrawText(list, l.fonts.small, {x0 + Em(0.25f), top + (Em(kRow) - 1 - l.fonts.small.size) / 2},
           l.colors.text, text);
}

}  // namespace

size_t LaneRows(const App& app, const DeviceView& device, float height) {
  if (app.lane_rows == LaneRowsShown::kNone) return 0;
  // Memory is what the view is about: it keeps the larger part.
  const float lanes = std::min(height * 0.45f, height - Em(13));
  const auto room = static_cast<size_t>(std::max(0.0f, lanes / Em(kRow)));
  const size_t wanted = app.lane_rows == LaneRowsShown::kFew ? kFewRows : device.lanes.lanes().size();
  return std::min({device.lanes.lanes().size(), wanted, room});
}

float LaneHeight(size_t rows) { return rows == 0 ? 0 : Em(kRow) * static_cast<float>(rows) + Em(0.2f); }

bool ShowRangeLanes(App& app, const DeviceView& device, size_t rows, ImVec2 min, float right, bool hovered) {
  const Look& l = look();
  const model::Run& run = *app.session.document()->run;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const std::vector<RangeLanes::Lane>& lanes = device.lanes.lanes();
  app.hover_range.clear();
  bool on_piece = false;
  for (size_t row = 0; row < rows; ++row) {
    const RangeLanes::Lane& lane = lanes[row];
    const float top = min.y + Em(kRow) * static_cast<float>(row);
    app.Name(fmt::format("lane.{}", row), {min.x, top}, {right, top + Em(kRow)});
    const bool begins_group = row == 0 || lanes[row - 1].kind != lane.kind;
    const size_t hidden = row + 1 == rows ? lanes.size() - rows : 0;
    const std::string label = begins_group  ? LaneTitle(lane.kind)
                              : hidden != 0 ? fmt::format("+{}", hidden)
                                            : "";
    const ImVec2 size = TextSize(l.fonts.small, label);
    DrawText(list, l.fonts.small, {min.x - size.x - Em(0.5f), top + (Em(kRow) - size.y) / 2}, l.colors.dim,
             label);
    for (const LanePiece& piece : device.lanes.Pieces(row, app.session.place.window, right - min.x)) {
      DrawPiece(list, run, lane, piece, min.x, right, top);
      const bool under = hovered && mouse.y >= top && mouse.y < top + Em(kRow) &&
                         mouse.x >= min.x + static_cast<float>(piece.x0) &&
                         mouse.x < min.x + static_cast<float>(piece.x1);
      if (!under || on_piece) continue;
      on_piece = true;
      ShowRangeTooltip(app, device, lane, piece);
      if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) Select(app, device, lane, piece);
    }
  }
  return on_piece;
}

}  // namespace vramscope::viewer
