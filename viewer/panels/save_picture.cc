// SPDX-License-Identifier: Apache-2.0
// A picture of the view, saved next to the file, without the tabs and without overlays.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "profiler/text/harmless.h"
#include "viewer/panels/app.h"
#include "viewer/platform/surface.h"
#include "viewer/platform/svg_picture.h"

namespace vramscope::viewer {
namespace {

// The part of a picture within a rectangle.
Image Cropped(const Image& whole, const Rectangle& to) {
  const int left = std::clamp(static_cast<int>(to.min.x), 0, whole.width);
  const int top = std::clamp(static_cast<int>(to.min.y), 0, whole.height);
  const int right = std::clamp(static_cast<int>(std::ceil(to.max.x)), left, whole.width);
  const int bottom = std::clamp(static_cast<int>(std::ceil(to.max.y)), top, whole.height);
  Image image{right - left, bottom - top, {}};
  for (int y = top; y < bottom; ++y) {
    const auto row = whole.pixels.begin() + static_cast<ptrdiff_t>(y) * whole.width;
    image.pixels.insert(image.pixels.end(), row + left, row + right);
  }
  return image;
}

std::string Png(const Rectangle& view) {
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  const auto surface = MakeSoftwareSurface(static_cast<int>(size.x), static_cast<int>(size.y));
  return EncodePng(Cropped(surface->Draw(*ImGui::GetDrawData()), view));
}

// Sharp edges are for SVG, soft (anti-aliased) edges for pixels.
void UseSharpEdges(bool sharp) {
  ImGuiStyle& style = ImGui::GetStyle();
  style.AntiAliasedLines = style.AntiAliasedFill = !sharp;
}

}  // namespace

void SavePicture(App& app) {
  if (app.picture == PictureKind::kNone) return;
  const bool svg = app.picture == PictureKind::kSvg;
  const auto view = app.elements.find("view");
  if (view == app.elements.end() || app.session.document() == nullptr) {
    app.picture = PictureKind::kNone;
    return;
  }
  if (!app.picture_ready) {  // the next frame is drawn for it, with the mouse away
    UseSharpEdges(svg);
    app.picture_ready = true;
    app.mouse_before_picture = ImGui::GetIO().MousePos;
    ImGui::GetIO().MousePos = {-1e6f, -1e6f};
    if (app.session.wake()) app.session.wake()();
    return;
  }
  const std::string bytes =
      svg ? DrawSvg(*ImGui::GetDrawData(), view->second.min, view->second.max) : Png(view->second);
  const Session& session = app.session;
  const auto saved = SaveNamed(session.document()->path,
                               fmt::format("{}-{}", TabKey(session.place.tab), session.place.moment),
                               svg ? "svg" : "png", bytes);
  app.session.message = saved.ok() ? "" : saved.error().sentence;
  app.Say(saved.ok() ? "saved as " + text::OneLine(saved->substr(saved->rfind('/') + 1)) : "");
  UseSharpEdges(false);
  ImGui::GetIO().MousePos = app.mouse_before_picture;
  app.picture = PictureKind::kNone;
  app.picture_ready = false;
}

}  // namespace vramscope::viewer
