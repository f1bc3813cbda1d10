// SPDX-License-Identifier: Apache-2.0
// Turns ImGui's draw lists into SVG. The lists contain only triangles. A letter is two triangles with a place
// in the font texture, which identifies it. Neighbors of one color become one element.
#include "viewer/platform/svg_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "viewer/platform/theme.h"

namespace vramscope::viewer {
namespace {

struct Letter {
  const Font* font = nullptr;
  ImWchar code = 0;
  float x = 0;         // of its box from the pen
  float baseline = 0;  // from its box's upper edge
  float advance = 0;
};

std::string Utf8(unsigned code) {
  std::string text;
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xC0 | code >> 6);
    text += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    text += static_cast<char>(0xE0 | (code >> 12 & 0x0F));
    text += static_cast<char>(0x80 | (code >> 6 & 0x3F));
    text += static_cast<char>(0x80 | (code & 0x3F));
  }
  return code == '&' ? "&amp;" : code == '<' ? "&lt;" : code == '>' ? "&gt;" : text;
}

// "fill="#112233" fill-opacity="0.5""
std::string Fill(ImU32 color) {
  const unsigned alpha = color >> IM_COL32_A_SHIFT & 0xff;
  std::string fill = fmt::format("fill=\"#{:02x}{:02x}{:02x}\"", color >> IM_COL32_R_SHIFT & 0xff,
                                 color >> IM_COL32_G_SHIFT & 0xff, color >> IM_COL32_B_SHIFT & 0xff);
  if (alpha != 255) fill += fmt::format(" fill-opacity=\"{:.3g}\"", static_cast<double>(alpha) / 255);
  return fill;
}

class SvgWriter {
 public:
  SvgWriter(ImVec2 min, ImVec2 max) : min_(min), max_(max) {
    const Fonts& fonts = look().fonts;
    for (const Font* font : {&fonts.text, &fonts.strong, &fonts.mono, &fonts.small}) {
      const ImFontBaked& drawn = *font->face->GetFontBaked(font->size);
      for (const ImFontGlyph& glyph : drawn.Glyphs) {
        letters_[{glyph.U0, glyph.V0}] = {font, static_cast<ImWchar>(glyph.Codepoint), glyph.X0,
                                          drawn.Ascent - glyph.Y0, glyph.AdvanceX};
      }
    }
  }

  void Add(const ImDrawList& list, const ImDrawCmd& command, ImVec2 origin) {
    const ImVec4& clip = command.ClipRect;
    const ImVec2 from = {std::max(clip.x - origin.x, min_.x), std::max(clip.y - origin.y, min_.y)};
    const ImVec2 to = {std::min(clip.z - origin.x, max_.x), std::min(clip.w - origin.y, max_.y)};
    if (from.x >= to.x || from.y >= to.y || command.UserCallback != nullptr) return;
    clip_min_ = from;
    clip_max_ = to;
    const size_t before = body_.size();
    const ImDrawVert* vertices = list.VtxBuffer.Data + command.VtxOffset;
    const ImDrawIdx* indices = list.IdxBuffer.Data + command.IdxOffset;
    for (unsigned i = 0; i + 2 < command.ElemCount;) i += Shape(vertices, indices + i, command.ElemCount - i);
    Flush();
    if (body_.size() == before) return;
    const bool whole = from.x == min_.x && from.y == min_.y && to.x == max_.x && to.y == max_.y;
    if (whole) return;
    clips_ += fmt::format(
        "<clipPath id=\"c{}\"><rect x=\"{:g}\" y=\"{:g}\" width=\"{:g}\" height=\"{:g}\"/></clipPath>\n",
        clip_count_, from.x - min_.x, from.y - min_.y, to.x - from.x, to.y - from.y);
    body_.insert(before, fmt::format("<g clip-path=\"url(#c{})\">\n", clip_count_++));
    body_ += "</g>\n";
  }

  std::string Finish(ImU32 background) {
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:g} {1:g}\" width=\"{0:g}\" "
        "height=\"{1:g}\">\n"
        "<defs>\n{2}</defs>\n<rect width=\"100%\" height=\"100%\" {3}/>\n{4}</svg>\n",
        max_.x - min_.x, max_.y - min_.y, clips_, Fill(background), body_);
  }

 private:
  // Adds the shape that begins at `index`; returns its number of indices.
  unsigned Shape(const ImDrawVert* vertices, const ImDrawIdx* index, unsigned left) {
    const ImDrawVert& a = vertices[index[0]];
    const bool box = left >= 6 && index[3] == index[0] && index[4] == index[2] && IsBox(vertices, index);
    const ImVec2 white = ImGui::GetIO().Fonts->TexUvWhitePixel;
    const bool solid = a.uv.x == white.x && a.uv.y == white.y;
    const unsigned used = box ? 6 : 3;
    if ((a.col >> IM_COL32_A_SHIFT & 0xff) == 0) return used;
    if (box && !solid) {
      if (const auto letter = letters_.find({a.uv.x, a.uv.y}); letter != letters_.end())
        AddLetter(letter->second, a);
      return used;
    }
    ImVec2 low = a.pos;
    ImVec2 high = a.pos;
    for (unsigned i = 1; i < used; ++i) {
      const ImVec2 at = vertices[index[i]].pos;
      low = {std::min(low.x, at.x), std::min(low.y, at.y)};
      high = {std::max(high.x, at.x), std::max(high.y, at.y)};
    }
    if (high.x <= clip_min_.x || low.x >= clip_max_.x || high.y <= clip_min_.y || low.y >= clip_max_.y)
      return used;
    if (!text_.empty() || color_ != a.col) Flush();
    color_ = a.col;
    if (box) {
      path_ += fmt::format("M{:.6g} {:.6g}h{:.6g}v{:.6g}h{:.6g}z", low.x - min_.x, low.y - min_.y,
                           high.x - low.x, high.y - low.y, low.x - high.x);
    } else {
      for (int i = 0; i < 3; ++i) {
        const ImVec2 at = vertices[index[i]].pos;
        path_ += fmt::format("{}{:.6g} {:.6g}", i == 0 ? 'M' : 'L', at.x - min_.x, at.y - min_.y);
      }
      path_ += 'z';
    }
    return used;
  }

  // True if two triangles are one upright rectangle.
  static bool IsBox(const ImDrawVert* vertices, const ImDrawIdx* index) {
    const ImVec2 a = vertices[index[0]].pos;
    const ImVec2 b = vertices[index[1]].pos;
    const ImVec2 c = vertices[index[2]].pos;
    const ImVec2 d = vertices[index[5]].pos;
    return a.y == b.y && b.x == c.x && c.y == d.y && d.x == a.x;
  }

  void AddLetter(const Letter& letter, const ImDrawVert& corner) {
    const float x = corner.pos.x - letter.x;
    const float y = corner.pos.y + letter.baseline;
    const float gap = x - next_x_;
    // Letters follow each other; a space between them has no triangles.
    const bool follows = !text_.empty() && letter.font == font_ && corner.col == color_ &&
                         std::abs(y - y_) < 0.6f && gap > -1.5f && gap < letter.font->size * 0.6f;
    if (!follows) {
      Flush();
      font_ = letter.font;
      color_ = corner.col;
      y_ = y;
    } else if (gap > letter.font->size * 0.15f) {
      text_ += ' ';
      places_ += fmt::format(" {:.1f}", next_x_ - min_.x);
    }
    text_ += Utf8(letter.code);
    places_ += fmt::format("{}{:.1f}", places_.empty() ? "" : " ", x - min_.x);
    next_x_ = x + letter.advance;
  }

  void Flush() {
    if (!path_.empty()) body_ += fmt::format("<path {} d=\"{}\"/>\n", Fill(color_), path_);
    if (!text_.empty()) {
      const Fonts& fonts = look().fonts;
      body_ += fmt::format(
          "<text {} font-family=\"{}\" font-weight=\"{}\" font-size=\"{:g}\" y=\"{:.1f}\" "
          "x=\"{}\">{}</text>\n",
          Fill(color_), font_ == &fonts.mono ? "JetBrains Mono, monospace" : "Inter, Roboto, sans-serif",
          font_ == &fonts.strong ? 600 : 400, font_->size * (font_ == &fonts.mono ? 0.757f : 0.826f),
          y_ - min_.y, places_, text_);
    }
    path_.clear();
    text_.clear();
    places_.clear();
  }

  ImVec2 min_;
  ImVec2 max_;
  ImVec2 clip_min_ = {0, 0};
  ImVec2 clip_max_ = {0, 0};
  std::map<std::pair<float, float>, Letter> letters_;  // by their places in the texture
  std::string body_;
  std::string clips_;
  int clip_count_ = 0;
  // The element that is being built.
  ImU32 color_ = 0;
  std::string path_;
  std::string text_;
  std::string places_;
  const Font* font_ = nullptr;
  float y_ = 0;
  float next_x_ = 0;
};

}  // namespace

std::string DrawSvg(const ImDrawData& frame, ImVec2 min, ImVec2 max) {
  SvgWriter writer({std::floor(min.x), std::floor(min.y)}, {std::ceil(max.x), std::ceil(max.y)});
  for (const ImDrawList* list : frame.CmdLists) {
    for (const ImDrawCmd& command : list->CmdBuffer) writer.Add(*list, command, frame.DisplayPos);
  }
  return writer.Finish(look().colors.panel);
}

}  // namespace vramscope::viewer
