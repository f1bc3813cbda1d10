// SPDX-License-Identifier: Apache-2.0
#include "viewer/platform/web/page_surface.h"

#include <memory>
#include <string>

#include "viewer/platform/surface.h"
#include "viewer/platform/theme.h"
#include "viewer/platform/web/host.h"

namespace vramscope::web {

void UploadFonts() {
  unsigned char* texels = nullptr;
  int width = 0;
  int height = 0;
  ImGui::GetIO().Fonts->GetTexDataAsRGBA32(&texels, &width, &height);
  ImGui::GetIO().BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;
  host_texture(texels, width, height);
}

void DrawOnPage(const ImDrawData& frame) {
  const ImVec2 origin = frame.DisplayPos;
  host_begin(static_cast<int>(frame.DisplaySize.x), static_cast<int>(frame.DisplaySize.y),
             viewer::look().colors.background);
  for (int i = 0; i < frame.CmdListsCount; ++i) {
    const ImDrawList& list = *frame.CmdLists[i];
    host_list(list.VtxBuffer.Data, static_cast<size_t>(list.VtxBuffer.size_in_bytes()), list.IdxBuffer.Data,
              static_cast<size_t>(list.IdxBuffer.size_in_bytes()));
    for (const ImDrawCmd& command : list.CmdBuffer) {
      if (command.UserCallback != nullptr || command.ElemCount == 0) continue;
      const ImVec4& clip = command.ClipRect;
      host_command(command.IdxOffset, command.ElemCount, command.VtxOffset,
                   static_cast<int>(clip.x - origin.x), static_cast<int>(clip.y - origin.y),
                   static_cast<int>(clip.z - origin.x), static_cast<int>(clip.w - origin.y));
    }
  }
  host_end();
}

}  // namespace vramscope::web

namespace vramscope::viewer {
namespace {

// For scripts: the page shows the picture, and whoever drives the page takes it.
class PageSurface final : public Surface {
 public:
  PageSurface() { web::UploadFonts(); }
  const char* name() const override { return "WebGL2"; }
  Image Draw(const ImDrawData& frame) override {
    web::DrawOnPage(frame);
    return {};
  }
};

}  // namespace

Status WritePng(const Image&, const std::string&) { return {}; }

Result<std::unique_ptr<Surface>> MakeSurface(Renderer, int, int) {
  return std::unique_ptr<Surface>(std::make_unique<PageSurface>());
}

}  // namespace vramscope::viewer
