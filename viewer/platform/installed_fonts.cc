// SPDX-License-Identifier: Apache-2.0
// Finds the viewer's fonts: those that a package of vramscope brings along, else those of the machine.
//
//   PREFIX/bin/vramscope-viewer     PREFIX/share/vramscope/fonts/Inter-Regular.otf, ...
//
// A page in a browser has its fonts inside: viewer/platform/web has another file.
#include <imgui_freetype.h>

#include <filesystem>
#include <system_error>

#include "viewer/platform/keyboard_and_fonts.h"

namespace vramscope::viewer {
namespace {

Font AddFont(const std::vector<std::string>& files, std::string& names) {
  ImFontAtlas* atlas = ImGui::GetIO().Fonts;
  ImFontConfig config;
  config.PixelSnapH = true;
  config.Flags = ImFontFlags_NoLoadError;
  for (const std::string& file : files) {
    std::error_code ignored;
    if (file.empty() || !std::filesystem::is_regular_file(file, ignored)) continue;
    ImFont* font = atlas->AddFontFromFileTTF(file.c_str(), 0, &config);
    if (font == nullptr) continue;
    const std::string name = file.substr(file.find_last_of('/') + 1);
    if (names.find(name) == std::string::npos) names += (names.empty() ? "" : ", ") + name;
    return {font};
  }
  return {atlas->AddFontDefaultVector()};
}

// Ends in '/'. Empty if the program's own path is unknown, as without /proc.
std::string OwnFonts() {
  std::error_code unknown;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", unknown);
  if (unknown) return "";
  return (program.parent_path().parent_path() / "share/vramscope/fonts/").string();
}

}  // namespace

Fonts LoadFonts(const std::string& preferred) {
  const std::string fonts = "/usr/share/fonts/";
  const std::string own = OwnFonts();
  const std::vector<std::string> text = {preferred,
                                         own + "Inter-Regular.otf",
                                         fonts + "opentype/inter/Inter-Regular.otf",
                                         fonts + "truetype/inter/Inter-Regular.ttf",
                                         fonts + "truetype/roboto/unhinted/RobotoTTF/Roboto-Regular.ttf",
                                         fonts + "truetype/noto/NotoSans-Regular.ttf",
                                         fonts + "truetype/dejavu/DejaVuSans.ttf"};
  const std::vector<std::string> strong = {preferred,
                                           own + "Inter-SemiBold.otf",
                                           fonts + "opentype/inter/Inter-SemiBold.otf",
                                           fonts + "truetype/inter/Inter-SemiBold.ttf",
                                           fonts + "truetype/roboto/unhinted/RobotoTTF/Roboto-Medium.ttf",
                                           fonts + "truetype/noto/NotoSans-Bold.ttf",
                                           fonts + "truetype/dejavu/DejaVuSans-Bold.ttf"};
  const std::vector<std::string> mono = {
      own + "JetBrainsMono-Regular.ttf", fonts + "truetype/jetbrains-mono/JetBrainsMono-Regular.ttf",
      fonts + "truetype/firacode/FiraCode-Regular.ttf", fonts + "truetype/noto/NotoSansMono-Regular.ttf",
      fonts + "truetype/dejavu/DejaVuSansMono.ttf"};
  ImGui::GetIO().Fonts->FontLoaderFlags = ImGuiFreeTypeLoaderFlags_LightHinting;
  Fonts loaded;
  loaded.text = loaded.small = AddFont(text, loaded.names);
  loaded.strong = AddFont(strong, loaded.names);
  loaded.mono = AddFont(mono, loaded.names);
  ImGui::GetIO().FontDefault = loaded.text.face;
  return loaded;
}

}  // namespace vramscope::viewer
