// SPDX-License-Identifier: Apache-2.0
// The caching allocator's memory at the moment, like the picture of a disk defragmenter: segments as strips,
// blocks in the colors of their categories (or another fact about them), free memory hatched.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "profiler/text/format.h"
#include "viewer/panels/app.h"

namespace vramscope::viewer {
namespace {

struct Cells {
  ImVec2 origin;
  float row_height = 0;
  float row_step = 0;
  double bytes_per_pixel = 1;

  [[nodiscard]] ImVec2 TopLeft(const MapStrip& strip, uint64_t offset) const {
    const double x = strip.x + static_cast<double>(offset - strip.begin) / bytes_per_pixel;
    return {std::round(origin.x + static_cast<float>(x)),
            origin.y + static_cast<float>(strip.row) * row_step};
  }
};

// The end of a dotted name that fits: "qkv" is more informative than "blo...qkv".
std::string ShortTitle(const std::string& title, float width) {
  std::string_view rest = title;
  while (TextSize(look().fonts.small, std::string(rest)).x > width) {
    const size_t dot = rest.find('.');
    if (dot == std::string_view::npos) return "";
    rest.remove_prefix(dot + 1);
  }
  return std::string(rest);
}

void DrawBlock(ImDrawList& list, const Cells& cells, const MapStrip& strip, const MapBlock& block,
               ImU32 color, bool mark_pins) {
  const Look& l = look();
  const ImVec2 min = cells.TopLeft(strip, std::max(block.offset, strip.begin));
  ImVec2 max = cells.TopLeft(strip, std::min(block.end(), strip.end));
  max.y = min.y + cells.row_height;
  if (block.use == MapBlock::Use::kFree) {
    if (max.x - min.x >= 3) Hatch(list, min, max, l.colors.hatch);
    return;
  }
  max.x = std::max(max.x, min.x + 1);  // a live block is visible, however small
  if (mark_pins && !block.pins) color = WithAlpha(color, 0.35f);
  list.AddRectFilled(min, max, color);
  if (block.use == MapBlock::Use::kPending) Hatch(list, min, max, InkOn(color));
  const float width = max.x - min.x;
  if (width > 3)
    list.AddRectFilled({max.x - 1, min.y}, max, WithAlpha(l.colors.panel, 0.55f));  // an edge to the next one
  if (mark_pins && block.pins) list.AddRectFilled({min.x, max.y - Em(0.25f)}, max, l.colors.bad);
  if (width > Em(3.2f) && !block.title.empty()) {
    const std::string text = ShortTitle(block.title, width - Em(0.6f));
    DrawText(list, l.fonts.small, {min.x + Em(0.3f), min.y + (cells.row_height - l.fonts.small.size) / 2},
             mark_pins && !block.pins ? l.colors.text : InkOn(color), text);
  }
}

// `pinned`: the segment under the mouse, whose pinning blocks are outlined; or nullptr.
size_t DrawPage(ImDrawList& list, const Cells& cells, const AddressMap& map, const MapPage& page,
                const App& app, const MapSegment* pinned) {
  size_t narrow = 0;
  const model::BlockId selected = app.session.place.block;
  std::vector<std::pair<Rectangle, ImU32>> outlines;  // of a block, in one row or two
  for (const MapStrip& strip : page.strips) {
    const MapSegment& segment = map.segments()[strip.segment];
    const ImVec2 min = cells.TopLeft(strip, strip.begin);
    ImVec2 max = cells.TopLeft(strip, strip.end);
    max.y += cells.row_height;
    list.AddRectFilled(min, max, look().colors.free);
    auto block = std::upper_bound(segment.blocks.begin(), segment.blocks.end(), strip.begin,
                                  [](uint64_t at, const MapBlock& b) { return at < b.offset; });
    if (block != segment.blocks.begin()) --block;
    for (; block != segment.blocks.end() && block->offset < strip.end; ++block) {
      const bool live = block->use != MapBlock::Use::kFree;
      if (live && static_cast<double>(block->bytes) < cells.bytes_per_pixel) ++narrow;
      const ImU32 color = live ? FromRgb(map.legend()[block->entry].rgb) : 0;
      DrawBlock(list, cells, strip, *block, color, app.show_pins);
      const bool is_selected = live && block->block != model::kNone && block->block == selected;
      if (!is_selected && !(block->pins && &segment == pinned)) continue;
      const ImVec2 from = cells.TopLeft(strip, std::max(block->offset, strip.begin));
      const ImVec2 to = cells.TopLeft(strip, std::min(block->end(), strip.end));
      outlines.push_back(
          {{{from.x - 1, from.y - 1}, {std::max(to.x, from.x + 1) + 1, from.y + cells.row_height + 1}},
           is_selected ? look().colors.text : look().colors.bad});
    }
    list.AddRect(min, max, look().colors.line);
  }
  for (const auto& [outline, color] : outlines) {  // over the neighbors
    list.AddRect(outline.min, outline.max, color, 0, std::max(2.0f, 2 * look().scale));
  }
  return narrow;
}

void ShowBlockTooltip(const Document& document, const MapSegment& segment, const MapBlock& block) {
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {Em(0.7f), Em(0.5f)});
  ImGui::BeginTooltip();
  if (block.use == MapBlock::Use::kFree) {
    ShowHeading(text::FormatBytes(block.bytes) + " free");
    if (segment.held_back != 0) {
      const auto pins = std::count_if(segment.blocks.begin(), segment.blocks.end(),
                                      [](const MapBlock& each) { return each.pins; });
      ImGui::Text("%s in this segment cannot return to the driver: pinned by %s",
                  text::FormatBytes(segment.held_back).c_str(),
                  text::FormatCount(static_cast<uint64_t>(pins), "block").c_str());
    }
  } else {
    ShowHeading(block.title.empty() ? text::FormatBytes(block.bytes) : block.title);
    ImGui::Text("%s, %s", text::FormatBytes(block.bytes).c_str(), document.WordsOf(block.category).clause);
    if (block.pins) ImGui::Text("pins %s of free memory", text::FormatBytes(segment.held_back).c_str());
    if (block.use == MapBlock::Use::kPending)
      ImGui::TextUnformatted("freed, but another stream may still use it");
    if (block.requested != 0 && block.requested < block.bytes)
      ImGui::TextDisabled("%s more than requested", text::FormatBytes(block.bytes - block.requested).c_str());
  }
  ImGui::TextDisabled("%s", fmt::format("at {:#x}", segment.address + block.offset).c_str());
  std::string about = fmt::format("in a segment of {}, {} free, {} pool", text::FormatBytes(segment.bytes),
                                  text::FormatBytes(segment.free), segment.large ? "large" : "small");
  if (segment.expandable) about += ", expandable";
  if (!segment.domain.empty()) about += ", " + segment.domain;
  ImGui::TextDisabled("%s", about.c_str());
  ImGui::EndTooltip();
  ImGui::PopStyleVar();
}

// The block under the mouse, and its segment.
std::pair<const MapSegment*, const MapBlock*> UnderMouse(const AddressMap& map, const MapPage& page,
                                                         const Cells& cells) {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  for (const MapStrip& strip : page.strips) {
    const ImVec2 min = cells.TopLeft(strip, strip.begin);
    const ImVec2 max = cells.TopLeft(strip, strip.end);
    if (mouse.x < min.x || mouse.x >= max.x || mouse.y < min.y || mouse.y >= min.y + cells.row_height)
      continue;
    const auto along = static_cast<uint64_t>(static_cast<double>(mouse.x - min.x) * cells.bytes_per_pixel);
    const MapSegment& segment = map.segments()[strip.segment];
    return {&segment, BlockAt(segment, std::min(strip.begin + along, strip.end - 1))};
  }
  return {nullptr, nullptr};
}

void ShowPinsSwitch(App& app) {
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {Em(0.4f), Em(0.1f)});
  ImGui::PushStyleColor(ImGuiCol_Button, app.show_pins ? look().colors.selected : look().colors.raised);
  if (ImGui::Button("Pins", {Em(4.4f), 0})) app.show_pins = !app.show_pins;
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
  app.NameLastItem("pins");
  if (ImGui::IsItemHovered())
    ImGui::SetTooltip("Mark the blocks that pin free memory in their segments. Key: n");
}

}  // namespace

void ShowAddressMap(App& app, ImVec2 size) {
  Session& session = app.session;
  const LayoutView* layout = session.layout();
  if (layout == nullptr) return ShowWhyEmpty(size, "Placing every block at its address ...");
  if (layout->walk == nullptr) return ShowWhyEmpty(size, layout->why_not);
  app.map.Update(*session.document(), *session.device(), *layout, session.place.moment, session.coloring);
  const AddressMap& map = app.map;
  if (map.segments().empty())
    return ShowWhyEmpty(size, "The caching allocator holds no memory at this moment.");

  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float controls = Em(16.5f);
  const NotePlace note = PlaceNote(at, size.x, controls);
  const float top = note.height;
  const float legend = LegendHeight(map.legend(), size.x - Em(0.4f));
  ImGui::SetCursorScreenPos({at.x + size.x - controls, at.y - Em(0.1f)});
  ShowPinsSwitch(app);
  ImGui::SameLine(0, Em(0.5f));
  ShowColoringChoice(app, Em(11));
  ImGui::SetCursorScreenPos({at.x, at.y + top});
  ImGui::InvisibleButton("map", {size.x, size.y - top - legend});
  app.NameLastItem("map");
  const bool hovered = ImGui::IsItemHovered();
  Cells cells;
  cells.origin = {at.x + Em(0.2f), at.y + top};
  cells.row_height = Em(1.55f);
  cells.row_step = cells.row_height + Em(0.35f);
  const auto rows = static_cast<size_t>(std::max(1.0f, (size.y - top - legend - Em(0.4f)) / cells.row_step));
  const MapPage page = LayOut(map.segments(), size.x - Em(0.4f), rows, Em(0.35f));
  cells.bytes_per_pixel = page.bytes_per_pixel;

  ImDrawList& list = *ImGui::GetWindowDrawList();
  const auto [segment, block] =
      hovered ? UnderMouse(map, page, cells) : std::pair<const MapSegment*, const MapBlock*>();
  const bool free_under_mouse = block != nullptr && block->use == MapBlock::Use::kFree;
  const size_t narrow = DrawPage(list, cells, map, page, app, free_under_mouse ? segment : nullptr);
  std::string text =
      fmt::format("{} in {}, {} free  ·  {}  ·  a pixel is {}", text::FormatBytes(map.bytes()),
                  text::FormatCount(map.segments().size(), "segment"), text::FormatBytes(map.free_bytes()),
                  text::FormatCount(map.live_blocks(), "live block"),
                  text::FormatBytes(static_cast<uint64_t>(page.bytes_per_pixel)));
  if (narrow != 0)
    text += fmt::format("  ·  {} narrower than a pixel", text::FormatCount(narrow, "block is", "blocks are"));
  DrawNote(list, note, text);
  DrawLegend(list, {at.x + Em(0.2f), at.y + size.y - legend}, map.legend(), size.x - Em(0.4f));
  ImGui::SetCursorScreenPos({at.x, at.y + size.y - legend});
  ImGui::Dummy({size.x, legend});
  if (block == nullptr) return;
  ShowBlockTooltip(*session.document(), *segment, *block);
  if (!ImGui::IsMouseClicked(ImGuiMouseButton_Left) || block->block == model::kNone) return;
  session.Remember();
  session.SelectBlock(session.place.block == block->block ? model::kNone : block->block);
}

}  // namespace vramscope::viewer
