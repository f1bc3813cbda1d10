// SPDX-License-Identifier: Apache-2.0
// The caching allocator's memory at the moment, like the picture of a disk defragmenter: segments as strips,
// blocks in the colours of their categories, free memory hatched.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "profiler/cli/terminal.h"
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

// The end of a dotted name that fits: "qkv" says more than "blo...qkv".
std::string ShortTitle(const std::string& title, float width) {
  std::string_view rest = title;
  while (TextSize(look().fonts.small, std::string(rest)).x > width) {
    const size_t dot = rest.find('.');
    if (dot == std::string_view::npos) return "";
    rest.remove_prefix(dot + 1);
  }
  return std::string(rest);
}

void DrawBlock(ImDrawList& list, const Cells& cells, const MapStrip& strip, const MapBlock& block) {
  const Look& l = look();
  const ImVec2 min = cells.TopLeft(strip, std::max(block.offset, strip.begin));
  ImVec2 max = cells.TopLeft(strip, std::min(block.end(), strip.end));
  max.y = min.y + cells.row_height;
  if (block.use == MapBlock::Use::kFree) {
    if (max.x - min.x >= 3) Hatch(list, min, max, l.colors.hatch);
    return;
  }
  max.x = std::max(max.x, min.x + 1);  // what is live is seen, however small
  const ImU32 color = ColorOf(block.category);
  list.AddRectFilled(min, max, color);
  if (block.use == MapBlock::Use::kPending) Hatch(list, min, max, InkOn(color));
  const float width = max.x - min.x;
  if (width > 3)
    list.AddRectFilled({max.x - 1, min.y}, max, WithAlpha(l.colors.panel, 0.55f));  // an edge to the next one
  if (width > Em(3.2f) && !block.title.empty()) {
    const std::string text = ShortTitle(block.title, width - Em(0.6f));
    DrawText(list, l.fonts.small,
             {min.x + Em(0.3f), min.y + (cells.row_height - l.fonts.small->FontSize) / 2}, InkOn(color),
             text);
  }
}

size_t DrawPage(ImDrawList& list, const Cells& cells, const AddressMap& map, const MapPage& page,
                model::BlockId selected) {
  size_t narrow = 0;
  std::vector<Rectangle> outlines;  // of the selected block, in one row or two
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
      DrawBlock(list, cells, strip, *block);
      if (!live || block->block == model::kNone || block->block != selected) continue;
      const ImVec2 from = cells.TopLeft(strip, std::max(block->offset, strip.begin));
      const ImVec2 to = cells.TopLeft(strip, std::min(block->end(), strip.end));
      outlines.push_back(
          {{from.x - 1, from.y - 1}, {std::max(to.x, from.x + 1) + 1, from.y + cells.row_height + 1}});
    }
    list.AddRect(min, max, look().colors.line);
  }
  for (const Rectangle& outline : outlines) {  // over the neighbours
    list.AddRect(outline.min, outline.max, look().colors.text, 0, 0, std::max(2.0f, 2 * look().scale));
  }
  return narrow;
}

void ShowBlockTooltip(const MapSegment& segment, const MapBlock& block) {
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {Em(0.7f), Em(0.5f)});
  ImGui::BeginTooltip();
  if (block.use == MapBlock::Use::kFree) {
    ShowHeading(cli::FormatBytes(block.bytes) + " free");
  } else {
    ShowHeading(block.title.empty() ? cli::FormatBytes(block.bytes) : block.title);
    ImGui::Text("%s, %s", cli::FormatBytes(block.bytes).c_str(), classify::Info(block.category).plural);
    if (block.use == MapBlock::Use::kPending)
      ImGui::TextUnformatted("freed, but another stream may still use it");
    if (block.requested != 0 && block.requested < block.bytes)
      ImGui::TextDisabled("%s more than was asked for",
                          cli::FormatBytes(block.bytes - block.requested).c_str());
  }
  ImGui::TextDisabled("%s", fmt::format("at {:#x}", segment.address + block.offset).c_str());
  std::string about = fmt::format("in a segment of {}, {} free, {} pool", cli::FormatBytes(segment.bytes),
                                  cli::FormatBytes(segment.free), segment.large ? "large" : "small");
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

}  // namespace

void ShowAddressMap(App& app, ImVec2 size) {
  Session& session = app.session;
  const LayoutView* layout = session.layout();
  if (layout == nullptr) return ShowWhyEmpty(size, "Placing every block at its address ...");
  if (layout->walk == nullptr) return ShowWhyEmpty(size, layout->why_not);
  app.map.Update(*session.document(), *layout, session.place.moment);
  const AddressMap& map = app.map;
  if (map.segments().empty())
    return ShowWhyEmpty(size, "The caching allocator holds no memory at this moment.");

  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::InvisibleButton("map", size);
  app.NameLastItem("map");
  const float top = Em(1.7f);
  Cells cells;
  cells.origin = {at.x + Em(0.2f), at.y + top};
  cells.row_height = Em(1.55f);
  cells.row_step = cells.row_height + Em(0.35f);
  const auto rows = static_cast<size_t>(std::max(1.0f, (size.y - top - Em(0.4f)) / cells.row_step));
  const MapPage page = LayOut(map.segments(), size.x - Em(0.4f), rows, Em(0.35f));
  cells.bytes_per_pixel = page.bytes_per_pixel;

  ImDrawList& list = *ImGui::GetWindowDrawList();
  const size_t narrow = DrawPage(list, cells, map, page, session.place.block);
  std::string text =
      fmt::format("{} in {}, {} free  ·  {}  ·  a pixel is {}", cli::FormatBytes(map.bytes()),
                  cli::FormatCount(map.segments().size(), "segment"), cli::FormatBytes(map.free_bytes()),
                  cli::FormatCount(map.live_blocks(), "live block"),
                  cli::FormatBytes(static_cast<uint64_t>(page.bytes_per_pixel)));
  if (narrow != 0)
    text += fmt::format("  ·  {} narrower than a pixel", cli::FormatCount(narrow, "block is", "blocks are"));
  DrawText(list, look().fonts.text, {at.x + Em(0.2f), at.y}, look().colors.dim,
           FitText(look().fonts.text, text, size.x));
  if (!ImGui::IsItemHovered()) return;
  const auto [segment, block] = UnderMouse(map, page, cells);
  if (block == nullptr) return;
  ShowBlockTooltip(*segment, *block);
  if (!ImGui::IsMouseClicked(ImGuiMouseButton_Left) || block->block == model::kNone) return;
  session.Remember();
  session.SelectBlock(session.place.block == block->block ? model::kNone : block->block);
}

}  // namespace vramscope::viewer
