// SPDX-License-Identifier: Apache-2.0
#include "viewer/script/headless.h"

#include <chrono>
#include <cmath>
#include <thread>

namespace vramscope::viewer {
namespace {

// Windows that size themselves by their content need two frames, tables one more.
constexpr int kFramesToSettle = 4;

}  // namespace

Headless::Headless(const HeadlessOptions& options) : options_(options), app_(std::make_unique<App>([] {})) {
  ImGui::CreateContext();
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.DisplaySize = {std::round(static_cast<float>(options.width) * options.scale),
                    std::round(static_cast<float>(options.height) * options.scale)};
  io.DeltaTime = 1.0f / 60;
  io.ConfigInputTextCursorBlink = false;
  io.MousePos = {-1e6f, -1e6f};
  io.ConfigInputTrickleEventQueue = false;  // a script gives each press a frame
  app_->layout.dark = options.dark;
  app_->open_link = [this](const std::string& link) { app_->Say(link); };  // there is no desktop
  app_->scale = options.scale;
  UseLook(LoadFonts(options.font), options.dark, options.scale);
}

Headless::~Headless() {
  app_.reset();
  surface_.reset();
  ImGui::DestroyContext();
}

Status Headless::Begin() {
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  surface_ =
      VRAMSCOPE_TRY(MakeSurface(options_.renderer, static_cast<int>(size.x), static_cast<int>(size.y)));
  app_->renderer = surface_->name();
  return {};
}

void Headless::Frame() {
  const FrameTimes::Frame timed(resting_ ? nullptr : options_.times, app_->session);
  if (app_->look_changed) UseLook(look().fonts, app_->layout.dark, app_->text_scale());
  app_->look_changed = false;
  ImGui::NewFrame();
  ShowFrame(*app_);
  ImGui::Render();
  SavePicture(*app_);
}

void Headless::Rest(int frames) {
  resting_ = true;
  for (int i = 0; i < frames; ++i) Frame();
  resting_ = false;
}

void Headless::WaitUntilLoaded() {
  while (app_->session.loading()) {
    if (options_.times != nullptr)
      Frame();
    else
      app_->session.Update();
    std::this_thread::sleep_for(std::chrono::milliseconds(options_.times != nullptr ? 30 : 2));
  }
  Frame();
  Rest(kFramesToSettle);
}

void Headless::WaitForAnswers() {
  Rest(kFramesToSettle);
  while (app_->waits != Waits::kNothing) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    Rest(1);
  }
  Rest(kFramesToSettle);
}

void Headless::Settle() {
  Rest(1);
  if (!app_->will_move) return;
  while (app_->will_move) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    Rest(1);
  }
  Rest(kFramesToSettle);
}

Status Headless::Shot(const std::string& path) {
  WaitForAnswers();
  return WritePng(surface_->Draw(*ImGui::GetDrawData()), path);
}

}  // namespace vramscope::viewer
