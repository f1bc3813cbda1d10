// SPDX-License-Identifier: Apache-2.0
// Every block over time at its address, for the same stretch of time as the timeline.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "profiler/report/owners.h"
#include "profiler/text/format.h"
#include "profiler/text/harmless.h"
#include "viewer/panels/app.h"

namespace vramscope::viewer {
namespace {

constexpr size_t kMostLabels = 400;

struct Plane {
  ImVec2 min;
  ImVec2 max;
  const TimeView& time;
  double low = 0;
  double high = 1;
  [[nodiscard]] float X(double time_ns) const {
    return std::clamp(std::round(min.x + static_cast<float>(time.PlaceOf(time_ns)) * (max.x - min.x)), min.x,
                      max.x);
  }
  [[nodiscard]] float Y(double place) const {
    const double share = (place - low) / (high - low);
    return std::clamp(std::round(max.y - static_cast<float>(share) * (max.y - min.y)), min.y, max.y);
  }
  [[nodiscard]] double PlaceAt(float y) const { return low + (max.y - y) / (max.y - min.y) * (high - low); }
};

// Low addresses at the bottom; unused memory of a segment shows as background.
void DrawGround(ImDrawList& list, const Plane& plane, const AddressTimeIndex& index) {
  const Look& l = look();
  for (const SegmentSpan& segment : index.segments()) {
    const ImVec2 min = {plane.X(segment.begin_ns), plane.Y(index.axis().PlaceOf(segment.end))};
    const ImVec2 max = {plane.X(segment.end_ns), plane.Y(index.axis().PlaceOf(segment.begin))};
    if (max.x - min.x < 1 || max.y - min.y < 1) continue;
    list.AddRectFilled(min, max, l.colors.raised);
    if (max.y - min.y > Em(0.5f)) list.AddRect(min, max, l.colors.line);
  }
  for (const AddressAxis::Area& area : index.axis().areas()) {
    const float top = plane.Y(index.axis().PlaceOf(area.end));
    const float bottom = plane.Y(area.place);
    if (bottom - top < Em(1.2f)) continue;
    const std::string text = text::FormatBytes(area.end - area.begin);
    const ImVec2 size = TextSize(l.fonts.small, text);
    const float y = (top + bottom - size.y) / 2;
    DrawText(list, l.fonts.small, {plane.min.x - size.x - Em(0.5f), y}, l.colors.dim, text);
    list.AddRectFilled({plane.min.x - Em(0.3f), top + 1}, {plane.min.x - Em(0.15f), bottom - 1},
                       l.colors.line);
  }
}

void DrawPieces(ImDrawList& list, const Plane& plane, const AddressTimePicture& picture,
                const Document& document, model::BlockId selected) {
  const Look& l = look();
  std::vector<ImU32> colors;
  for (const LegendEntry& entry : picture.legend) colors.push_back(FromRgb(entry.rgb));
  for (const AddressTimePiece& piece : picture.merged) {
    const ImVec2 min = {plane.X(piece.begin_ns), plane.Y(piece.high)};
    const ImVec2 max = {plane.X(piece.end_ns), plane.Y(piece.low)};
    if (max.x > min.x && max.y > min.y)
      list.AddRectFilled(min, max, WithAlpha(colors[piece.entry], 0.35f + 0.65f * piece.cover));
  }
  size_t labels = 0;
  for (const AddressTimePiece& piece : picture.blocks) {
    const ImVec2 min = {plane.X(piece.begin_ns), plane.Y(piece.high)};
    ImVec2 max = {plane.X(piece.end_ns), plane.Y(piece.low)};
    if (max.x <= plane.min.x || min.x >= plane.max.x || max.y <= plane.min.y || min.y >= plane.max.y)
      continue;
    max = {std::max(max.x, min.x + 1), std::max(max.y, min.y + 1)};
    // A line of background between neighbors, if there is room for it.
    const ImVec2 inner = {max.x - (max.x - min.x > 3 ? 1 : 0), max.y - (max.y - min.y > 3 ? 1 : 0)};
    list.AddRectFilled(min, inner, colors[piece.entry]);
    if (max.x - min.x < Em(4) || max.y - min.y < Em(0.95f) || labels == kMostLabels) continue;
    const std::string_view name = document.analysis->names().Of(piece.block);
    if (name.empty()) continue;
    ++labels;
    const std::string text = FitText(l.fonts.small, text::OneLine(name), max.x - min.x - Em(0.6f));
    DrawText(list, l.fonts.small, {min.x + Em(0.3f), (min.y + max.y - l.fonts.small.size) / 2},
             InkOn(colors[piece.entry]), text);
  }
  for (const AddressTimePiece& piece : picture.blocks) {
    if (piece.block != selected || selected == model::kNone) continue;
    list.AddRect({plane.X(piece.begin_ns) - 1, plane.Y(piece.high) - 1},
                 {std::max(plane.X(piece.end_ns), plane.X(piece.begin_ns) + 1) + 1, plane.Y(piece.low) + 1},
                 l.colors.text, 0, std::max(2.0f, 2 * l.scale));
  }
}

void ShowPieceTooltip(App& app, const DeviceView& device, const AddressTimePicture& picture,
                      const AddressTimePiece& piece) {
  const Document& document = *app.session.document();
  const model::Run& run = *document.run;
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {Em(0.7f), Em(0.5f)});
  ImGui::BeginTooltip();
  if (piece.block == model::kNone) {
    ShowHeading(text::FormatCount(piece.blocks, "small block") + " here");
    ImGui::TextUnformatted((text::FormatBytes(piece.bytes) + " in all").c_str());
    ImGui::TextDisabled("mostly %s; zoom in to separate them", picture.legend[piece.entry].text.c_str());
  } else {
    const model::Block& block = run.blocks[piece.block];
    std::string title(document.analysis->names().Of(piece.block));
    if (title.empty()) {
      classify::Origins origins(run, document.analysis->training());
      title = report::PlaceOf(*document.analysis, origins, piece.block).module;
    }
    app.hover_block = piece.block;
    ShowHeading(title.empty() ? fmt::format("Block {}", text::FormatCount(piece.block + 1))
                              : text::OneLine(title));
    ImGui::Text("%s, %s", text::FormatBytes(block.size).c_str(), picture.legend[piece.entry].text.c_str());
    const uint64_t born = run.times.TimeOf(block.alloc_event);
    const bool ends = block.free_event != model::kNever;
    const timeline::Step* step = document.training(device).StepAt(block.alloc_event);
    ImGui::TextUnformatted(fmt::format("{} to {}{}", TimeText(run, born),
                                       ends ? TimeText(run, run.times.TimeOf(block.free_event)) : "the end",
                                       step == nullptr ? "" : fmt::format(", from step {}", step->number))
                               .c_str());
    ImGui::TextDisabled("at %#lx", static_cast<unsigned long>(block.address));
  }
  ImGui::EndTooltip();
  ImGui::PopStyleVar();
}

// Ctrl and the wheel zoom the addresses; the right button also moves them.
void NavigateAddresses(App& app, const Plane& plane, bool hovered, bool active) {
  const ImGuiIO& io = ImGui::GetIO();
  const auto show = [&](double low, double high) {
    const double width = std::clamp(high - low, 1e-6, 1.0);
    app.address_low = std::clamp(low, 0.0, 1 - width);
    app.address_high = app.address_low + width;
  };
  if (hovered && io.KeyCtrl && io.MouseWheel != 0) {
    const double at = plane.PlaceAt(io.MousePos.y);
    const double factor = std::pow(1.25, -io.MouseWheel);
    show(at - (at - plane.low) * factor, at + (plane.high - at) * factor);
  }
  if (hovered && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) show(0, 1);
  const bool panning =
      ImGui::IsMouseDragging(ImGuiMouseButton_Right) || ImGui::IsMouseDragging(ImGuiMouseButton_Middle);
  if (!active || !panning || plane.high - plane.low >= 1) return;
  const double by = io.MouseDelta.y / (plane.max.y - plane.min.y) * (plane.high - plane.low);
  show(plane.low + by, plane.high + by);
}

}  // namespace

void ShowAddressTime(App& app, ImVec2 size) {
  Session& session = app.session;
  const LayoutView* layout = session.layout();
  if (layout == nullptr) return ShowWhyEmpty(size, "Placing every block at its address ...");
  const AddressTimeIndex& index = *layout->addresses;
  if (index.axis().areas().empty()) return ShowWhyEmpty(size, "No block of this device has an address.");
  const DeviceView& device = *session.device();
  const AddressTimePicture& picture = app.address_time.picture();

  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float controls = Em(11);
  const float legend = LegendHeight(picture.legend, size.x - Em(0.4f));
  ImGui::SetCursorScreenPos({at.x + size.x - controls, at.y - Em(0.1f)});
  ShowColoringChoice(app, controls);
  const NotePlace note = PlaceNote(at, size.x, controls);
  const float axis_top = at.y + note.height - Em(0.2f);
  Plane plane{{std::floor(at.x + Em(4.4f)), std::floor(axis_top + Em(1.3f))},
              {std::floor(at.x + size.x - Em(0.4f)), std::floor(at.y + size.y - legend - Em(0.3f))},
              session.place.window,
              app.address_low,
              app.address_high};
  plane.max = {std::max(plane.max.x, plane.min.x + 16), std::max(plane.max.y, plane.min.y + 16)};
  ImGui::SetCursorScreenPos({at.x, axis_top});
  ImGui::InvisibleButton("address-time", {plane.max.x - at.x, plane.max.y - axis_top},
                         ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonRight |
                             ImGuiButtonFlags_MouseButtonMiddle);
  app.Name("address-time", plane.min, plane.max);
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const bool hovered =
      ImGui::IsItemHovered() && mouse.x >= plane.min.x && mouse.x < plane.max.x && mouse.y >= plane.min.y;
  NavigateAddresses(app, plane, hovered, ImGui::IsItemActive());
  NavigateTime(app, {plane.min.x, plane.max.x, hovered, ImGui::IsItemActive(), true});
  plane.low = app.address_low;
  plane.high = app.address_high;
  app.address_time.Update(
      *session.document(), device, index,
      {session.place.window, plane.low, plane.high, static_cast<size_t>(plane.max.x - plane.min.x),
       static_cast<size_t>(plane.max.y - plane.min.y), session.coloring},
      session.wake());
  app.WaitFor(app.address_time.busy(), Waits::kPicture);

  ImDrawList& list = *ImGui::GetWindowDrawList();
  std::string text = text::FormatCount(picture.blocks.size() + picture.merged_blocks, "block");
  if (picture.merged_blocks != 0)
    text += fmt::format("  ·  {} smaller than a pixel, summed", text::FormatCount(picture.merged_blocks));
  const auto pixel = static_cast<uint64_t>((plane.high - plane.low) / index.axis().places_per_byte() /
                                           static_cast<double>(plane.max.y - plane.min.y));
  text += fmt::format("  ·  a pixel is {}", text::FormatBytes(pixel));
  DrawNote(list, note, text);
  list.PushClipRect({at.x, plane.min.y}, plane.max, true);
  DrawGround(list, plane, index);
  list.PopClipRect();
  DrawTimeAxis(list, plane.min, plane.max, session.place.window, axis_top);
  list.PushClipRect(plane.min, plane.max, true);
  DrawPieces(list, plane, picture, *session.document(), session.place.block);
  if (const auto& range = session.place.range) {
    list.AddRectFilled({plane.X(range->begin_ns), plane.min.y}, {plane.X(range->end_ns), plane.max.y},
                       WithAlpha(look().colors.accent, 0.22f));
  }
  const float moment = plane.X(session.MomentTime());
  list.AddRectFilled({moment, plane.min.y}, {moment + std::max(1.0f, look().scale), plane.max.y},
                     look().colors.text);
  list.PopClipRect();
  DrawLegend(list, {at.x + Em(0.2f), at.y + size.y - legend}, picture.legend, size.x - Em(0.4f));
  ImGui::SetCursorScreenPos({at.x, at.y + size.y - legend});
  ImGui::Dummy({size.x, legend});

  app.hover_block = model::kNone;
  if (!hovered || !app.hover_ns) return;
  const AddressTimePiece* piece = picture.At(*app.hover_ns, plane.PlaceAt(mouse.y));
  if (piece == nullptr) return;
  ShowPieceTooltip(app, device, picture, *piece);
  if (!ImGui::IsMouseClicked(ImGuiMouseButton_Left) || piece->block == model::kNone) return;
  session.Remember();
  session.SelectBlock(piece->block);
}

}  // namespace vramscope::viewer
