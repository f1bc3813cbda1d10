// SPDX-License-Identifier: Apache-2.0
// Draws ImGui's output: triangles with colors and textures, clipped to rectangles.
//
// A triangle is filled row by row between its edges. An edge's position in a row is computed from its upper
// end, for both triangles that share it. So there is no gap and no overlap.
#include <algorithm>
#include <array>
#include <cmath>

#include "viewer/platform/surface.h"

namespace vramscope::viewer {
namespace {

struct Clip {
  int left, top, right, bottom;
};

struct Rgba {
  float r, g, b, a;
};

Rgba Unpack(uint32_t color) {
  return {static_cast<float>(color & 0xff), static_cast<float>(color >> 8 & 0xff),
          static_cast<float>(color >> 16 & 0xff), static_cast<float>(color >> 24)};
}

class SoftwareSurface final : public Surface {
 public:
  SoftwareSurface(int width, int height) {
    image_.width = width;
    image_.height = height;
    // Textures stay in ImGui's own memory, so its requests to create them need no answer.
    ImGui::GetIO().BackendFlags |=
        ImGuiBackendFlags_RendererHasVtxOffset | ImGuiBackendFlags_RendererHasTextures;
  }
  const char* name() const override { return "software"; }

  Image Draw(const ImDrawData& frame) override {
    image_.pixels.assign(static_cast<size_t>(image_.width) * static_cast<size_t>(image_.height), 0xff000000u);
    for (const ImDrawList* list : frame.CmdLists) {
      for (const ImDrawCmd& command : list->CmdBuffer) {
        if (command.UserCallback == nullptr) DrawCommand(*list, command, frame.DisplayPos);
      }
    }
    return image_;
  }

 private:
  void DrawCommand(const ImDrawList& list, const ImDrawCmd& command, ImVec2 origin) {
    const Clip clip = {std::max(0, static_cast<int>(command.ClipRect.x - origin.x)),
                       std::max(0, static_cast<int>(command.ClipRect.y - origin.y)),
                       std::min(image_.width, static_cast<int>(command.ClipRect.z - origin.x)),
                       std::min(image_.height, static_cast<int>(command.ClipRect.w - origin.y))};
    if (clip.left >= clip.right || clip.top >= clip.bottom) return;
    texture_ = command.TexRef._TexData;
    const ImDrawVert* vertices = list.VtxBuffer.Data + command.VtxOffset;
    const ImDrawIdx* indices = list.IdxBuffer.Data + command.IdxOffset;
    for (unsigned i = 0; i + 2 < command.ElemCount; i += 3) {
      Triangle({&vertices[indices[i]], &vertices[indices[i + 1]], &vertices[indices[i + 2]]}, clip);
    }
  }

  static float EdgeAt(const ImDrawVert& upper, const ImDrawVert& lower, float y) {
    return upper.pos.x + (lower.pos.x - upper.pos.x) * ((y - upper.pos.y) / (lower.pos.y - upper.pos.y));
  }

  void Triangle(std::array<const ImDrawVert*, 3> v, const Clip& clip) {
    std::sort(v.begin(), v.end(), [](const ImDrawVert* a, const ImDrawVert* b) {
      return a->pos.y != b->pos.y ? a->pos.y < b->pos.y : a->pos.x < b->pos.x;
    });
    const float area = (v[1]->pos.x - v[0]->pos.x) * (v[2]->pos.y - v[0]->pos.y) -
                       (v[2]->pos.x - v[0]->pos.x) * (v[1]->pos.y - v[0]->pos.y);
    if (area == 0) return;
    const bool flat = v[0]->col == v[1]->col && v[1]->col == v[2]->col && v[0]->uv.x == v[1]->uv.x &&
                      v[1]->uv.x == v[2]->uv.x && v[0]->uv.y == v[1]->uv.y && v[1]->uv.y == v[2]->uv.y;
    const int top = std::max(clip.top, static_cast<int>(std::ceil(v[0]->pos.y - 0.5f)));
    const int bottom = std::min(clip.bottom, static_cast<int>(std::ceil(v[2]->pos.y - 0.5f)));
    for (int y = top; y < bottom; ++y) {
      const float row = static_cast<float>(y) + 0.5f;
      float left = EdgeAt(*v[0], *v[2], row);
      float right = row < v[1]->pos.y ? EdgeAt(*v[0], *v[1], row) : EdgeAt(*v[1], *v[2], row);
      if (left > right) std::swap(left, right);
      const int from = std::max(clip.left, static_cast<int>(std::ceil(left - 0.5f)));
      const int to = std::min(clip.right, static_cast<int>(std::ceil(right - 0.5f)));
      if (from >= to) continue;
      if (flat) {
        const Rgba color = Modulate(Unpack(v[0]->col), Texel(v[0]->uv.x, v[0]->uv.y));
        for (int x = from; x < to; ++x) Blend(x, y, color);
      } else {
        Shade(v, area, from, to, y);
      }
    }
  }

  void Shade(const std::array<const ImDrawVert*, 3>& v, float area, int from, int to, int y) {
    const std::array<Rgba, 3> colors = {Unpack(v[0]->col), Unpack(v[1]->col), Unpack(v[2]->col)};
    const float py = static_cast<float>(y) + 0.5f;
    for (int x = from; x < to; ++x) {
      const float px = static_cast<float>(x) + 0.5f;
      const float w1 = ((px - v[0]->pos.x) * (v[2]->pos.y - v[0]->pos.y) -
                        (v[2]->pos.x - v[0]->pos.x) * (py - v[0]->pos.y)) /
                       area;
      const float w2 = ((v[1]->pos.x - v[0]->pos.x) * (py - v[0]->pos.y) -
                        (px - v[0]->pos.x) * (v[1]->pos.y - v[0]->pos.y)) /
                       area;
      const float w0 = 1 - w1 - w2;
      const auto mix = [&](float a, float b, float c) { return w0 * a + w1 * b + w2 * c; };
      const Rgba color = {
          mix(colors[0].r, colors[1].r, colors[2].r), mix(colors[0].g, colors[1].g, colors[2].g),
          mix(colors[0].b, colors[1].b, colors[2].b), mix(colors[0].a, colors[1].a, colors[2].a)};
      Blend(x, y,
            Modulate(color, Texel(mix(v[0]->uv.x, v[1]->uv.x, v[2]->uv.x),
                                  mix(v[0]->uv.y, v[1]->uv.y, v[2]->uv.y))));
    }
  }

  static Rgba Modulate(const Rgba& color, const Rgba& texel) {
    return {color.r * texel.r / 255, color.g * texel.g / 255, color.b * texel.b / 255,
            color.a * texel.a / 255};
  }

  // A position in the texture to 1/256 of a texel, as GPUs round it. Otherwise a glyph's pixels would depend
  // on the order in which glyphs were first drawn.
  static float Position(float share, int texels) {
    constexpr float kSteps = 256;
    return std::round((share * static_cast<float>(texels) - 0.5f) * kSteps) / kSteps;
  }

  // Interpolates between the four texels around it.
  [[nodiscard]] Rgba Texel(float u, float v) const {
    const float x = Position(u, texture_->Width);
    const float y = Position(v, texture_->Height);
    const float x0 = std::floor(x);
    const float y0 = std::floor(y);
    const auto at = [&](float column, float row) {
      const int cx = std::clamp(static_cast<int>(column), 0, texture_->Width - 1);
      const int cy = std::clamp(static_cast<int>(row), 0, texture_->Height - 1);
      const unsigned char* texel =
          texture_->Pixels +
          4 * (static_cast<size_t>(cy) * static_cast<size_t>(texture_->Width) + static_cast<size_t>(cx));
      return Rgba{static_cast<float>(texel[0]), static_cast<float>(texel[1]), static_cast<float>(texel[2]),
                  static_cast<float>(texel[3])};
    };
    const float fx = x - x0;
    const float fy = y - y0;
    if (fx == 0 && fy == 0) return at(x0, y0);
    const auto mix = [](const Rgba& a, const Rgba& b, float t) {
      return Rgba{a.r + (b.r - a.r) * t, a.g + (b.g - a.g) * t, a.b + (b.b - a.b) * t, a.a + (b.a - a.a) * t};
    };
    return mix(mix(at(x0, y0), at(x0 + 1, y0), fx), mix(at(x0, y0 + 1), at(x0 + 1, y0 + 1), fx), fy);
  }

  void Blend(int x, int y, const Rgba& color) {
    uint32_t& pixel =
        image_.pixels[static_cast<size_t>(y) * static_cast<size_t>(image_.width) + static_cast<size_t>(x)];
    const float alpha = color.a / 255;
    if (alpha <= 0) return;
    const Rgba below = Unpack(pixel);
    const auto channel = [&](float over, float under) {
      return static_cast<uint32_t>(std::clamp(over * alpha + under * (1 - alpha) + 0.5f, 0.0f, 255.0f));
    };
    pixel = channel(color.r, below.r) | channel(color.g, below.g) << 8 | channel(color.b, below.b) << 16 |
            0xff000000u;
  }

  Image image_;
  const ImTextureData* texture_ = nullptr;  // of the command that is drawn
};

}  // namespace

std::unique_ptr<Surface> MakeSoftwareSurface(int width, int height) {
  return std::make_unique<SoftwareSurface>(width, height);
}

}  // namespace vramscope::viewer
