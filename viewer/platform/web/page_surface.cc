// SPDX-License-Identifier: Apache-2.0
#include "viewer/platform/web/page_surface.h"

#include <memory>
#include <string>

#include "viewer/platform/surface.h"
#include "viewer/platform/theme.h"
#include "viewer/platform/web/host.h"

namespace vramscope::web {

namespace {

// Sends the page the letters that ImGui has drawn since the last frame.
void Update(ImTextureData& texture) {
  if (texture.Status == ImTextureStatus_WantCreate || texture.Status == ImTextureStatus_WantUpdates) {
    texture.SetTexID(static_cast<ImTextureID>(texture.UniqueID + 1));  // 0 means no texture
    host_texture(texture.UniqueID, texture.GetPixels(), texture.Width, texture.Height);
    texture.SetStatus(ImTextureStatus_OK);
  } else if (texture.Status == ImTextureStatus_WantDestroy && texture.UnusedFrames > 0) {
    host_texture(texture.UniqueID, nullptr, 0, 0);
    texture.SetTexID(ImTextureID_Invalid);
    texture.SetStatus(ImTextureStatus_Destroyed);
  }
}

}  // namespace

void UseWebRenderer() {
  ImGui::GetIO().BackendFlags |=
      ImGuiBackendFlags_RendererHasVtxOffset | ImGuiBackendFlags_RendererHasTextures;
}

void DrawOnPage(const ImDrawData& frame) {
  for (ImTextureData* texture : *frame.Textures) {
    if (texture->Status != ImTextureStatus_OK) Update(*texture);
  }
  const ImVec2 origin = frame.DisplayPos;
  host_begin(static_cast<int>(frame.DisplaySize.x), static_cast<int>(frame.DisplaySize.y),
             viewer::look().colors.background);
  for (const ImDrawList* drawn : frame.CmdLists) {
    const ImDrawList& list = *drawn;
    host_list(list.VtxBuffer.Data, static_cast<size_t>(list.VtxBuffer.size_in_bytes()), list.IdxBuffer.Data,
              static_cast<size_t>(list.IdxBuffer.size_in_bytes()));
    for (const ImDrawCmd& command : list.CmdBuffer) {
      if (command.UserCallback != nullptr || command.ElemCount == 0) continue;
      const ImVec4& clip = command.ClipRect;
      host_command(command.TexRef._TexData->UniqueID, command.IdxOffset, command.ElemCount, command.VtxOffset,
                   static_cast<int>(clip.x - origin.x), static_cast<int>(clip.y - origin.y),
                   static_cast<int>(clip.z - origin.x), static_cast<int>(clip.w - origin.y));
    }
  }
  host_end();
}

}  // namespace vramscope::web

namespace vramscope::viewer {
namespace {

// For scripts: the page shows the picture, and the program that controls the page reads it.
class PageSurface final : public Surface {
 public:
  PageSurface() { web::UseWebRenderer(); }
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
