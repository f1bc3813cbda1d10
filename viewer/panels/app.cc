// SPDX-License-Identifier: Apache-2.0
// The frame: a bar on top, the views with the overview below them, the details next to them, the table at the
// bottom.
#include "viewer/panels/app.h"

#include <algorithm>

#include "viewer/model/recent_files.h"

namespace vramscope::viewer {
namespace {

struct TabSpec {
  Tab tab;
  const char* title;
  void (*show)(App& app, ImVec2 size);
};

constexpr TabSpec kTabs[] = {{Tab::kTimeline, "Timeline", ShowTimeline},
                             {Tab::kOwners, "Owners", ShowOwners},
                             {Tab::kMap, "Address map", ShowAddressMap},
                             {Tab::kAddressTime, "Addresses over time", ShowAddressTime},
                             {Tab::kFragmentation, "Fragmentation", ShowFragmentation},
                             {Tab::kOutOfMemory, "Out of memory", ShowOutOfMemory},
                             {Tab::kLeaks, "Leaks", ShowLeaks},
                             {Tab::kCompare, "Compare", ShowCompare},
                             {Tab::kWhatIf, "What if", ShowWhatIf}};

// A draggable strip between two parts; returns the movement in pixels.
float Splitter(const char* name, ImVec2 size, bool vertical) {
  ImGui::InvisibleButton(name, size);
  if (ImGui::IsItemHovered() || ImGui::IsItemActive()) {
    ImGui::SetMouseCursor(vertical ? ImGuiMouseCursor_ResizeEW : ImGuiMouseCursor_ResizeNS);
    ImGui::GetWindowDrawList()->AddRectFilled(ImGui::GetItemRectMin(), ImGui::GetItemRectMax(),
                                              look().colors.line, 2);
  }
  if (!ImGui::IsItemActive()) return 0;
  return vertical ? ImGui::GetIO().MouseDelta.x : ImGui::GetIO().MouseDelta.y;
}

void ShowTabs(App& app) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float right = ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x;
  for (const TabSpec& spec : kTabs) {
    const bool active = app.session.place.tab == spec.tab;
    const ImVec2 text = TextSize(look().fonts.text, spec.title);
    const ImVec2 size = {text.x + Em(1.4f), Em(1.7f)};
    if (ImGui::GetCursorScreenPos().x + size.x > right) ImGui::NewLine();  // a narrow window
    const ImVec2 at = ImGui::GetCursorScreenPos();
    if (ImGui::InvisibleButton(spec.title, size) && !active) {
      app.session.Remember();
      app.session.place.tab = spec.tab;
      app.session.tab_chosen = true;
    }
    app.NameLastItem(std::string("tab.") + TabKey(spec.tab));
    if (active || ImGui::IsItemHovered()) {
      list.AddRectFilled(at, {at.x + size.x, at.y + size.y},
                         active ? look().colors.selected : look().colors.raised, Em(0.25f));
    }
    DrawText(list, look().fonts.text, {at.x + Em(0.7f), at.y + (size.y - text.y) / 2},
             active ? look().colors.text : look().colors.dim, spec.title);
    ImGui::SameLine(0, Em(0.3f));
  }
  ImGui::NewLine();
}

void ShowView(App& app, ImVec2 size) {
  if (!BeginPanel("view", size)) return EndPanel();
  ShowTabs(app);
  ImVec2 rest = ImGui::GetContentRegionAvail();
  const bool overview = app.session.device() != nullptr;
  const float overview_height = overview ? Em(3.6f) : 0;
  rest.y = std::max(rest.y - overview_height - (overview ? ImGui::GetStyle().ItemSpacing.y : 0), Em(4));
  if (app.session.document() == nullptr) {
    ShowLoading(app, rest);
  } else if (app.session.device() == nullptr) {
    ShowWhyEmpty(rest,
                 "No allocation was recorded in this file. Did the command use PyTorch? vramscope info shows "
                 "what was hooked.");
  } else {
    for (const TabSpec& spec : kTabs) {
      if (spec.tab == app.session.place.tab) spec.show(app, rest);
    }
    ShowOverview(app, {rest.x, overview_height});
  }
  EndPanel();
}

}  // namespace

const TimelinePicture& TimelineCache::Get(const Document& document, const DeviceView& of,
                                          const TimeView& view, size_t columns_wanted) {
  if (device != &of || !(window == view) || columns != columns_wanted || shown != of.series.shown()) {
    picture = DrawTimeline(document, of, view, columns_wanted);
    device = &of;
    window = view;
    columns = columns_wanted;
    shown = of.series.shown();
  }
  return picture;
}

void App::ForgetViews() {
  live = {};
  timeline = {};
  overview = {};
  map = {};
  address_time.Forget();
  fragmentation = {};
  autopsy = {};     // waits for its thread
  comparison = {};  // and this
  whatif.Forget();  // and this
  leaks.Clear();    // and this
  fragmentation_history.Clear();
  owners.Clear();
}

void App::CloseFile(size_t file) {
  ForgetViews();
  whatif.Clear();  // the next file has other questions
  session.Close(file);
}

void App::RememberOpened() {
  for (const auto& file : session.files()) {
    if (file->document == nullptr || file->remembered) continue;
    file->remembered = true;
    RememberFile(recent_list, file->job->path());
    recent.reset();
  }
}

void App::UseLayout(const std::string& file, std::optional<bool> dark) {
  layout_file = file;
  layout = ReadLayout(file);
  layout_kept = layout;
  if (dark) layout.dark = *dark;
  look_changed = fonts_changed = true;
}

// Not while something is dragged: that would write a file in every frame.
void App::RememberLayout() {
  if (layout_file.empty() || layout == layout_kept || ImGui::IsMouseDown(ImGuiMouseButton_Left)) return;
  layout_kept = layout;
  WriteLayout(layout_file, layout);
}

void ShowFrame(App& app) {
  app.session.Update();
  if (app.generation != app.session.generation()) {
    app.ForgetViews();
    app.generation = app.session.generation();
  }
  app.session.DropReplaced();
  app.RememberOpened();
  app.RememberLayout();
  app.session.Advance(ImGui::GetIO().DeltaTime);
  app.elements.clear();
  HandleKeys(app);
  const ImGuiIO& io = ImGui::GetIO();
  ImGui::SetNextWindowPos({0, 0});
  ImGui::SetNextWindowSize(io.DisplaySize);
  ImGui::Begin("vramscope", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                   ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_NoScrollWithMouse);
  ShowTopBar(app);
  const ImVec2 all = ImGui::GetContentRegionAvail();
  const float gap = Em(0.5f);
  const float table = std::clamp(all.y * app.layout.table_share, Em(5), std::max(Em(5), all.y - Em(14)));
  const float details = std::clamp(Em(app.layout.details_width), Em(12), std::max(Em(12), all.x - Em(24)));
  const float upper = all.y - table - gap;
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
  const ImGuiStyle& style = ImGui::GetStyle();
  const ImVec2 spacing = {style.FramePadding.x * 0.9f, style.FramePadding.y * 1.5f};
  const auto framed = [&](void (*show)(App&, ImVec2), ImVec2 size) {
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, spacing);
    show(app, size);
    ImGui::PopStyleVar();
  };
  framed(ShowView, {all.x - details - gap, upper});
  ImGui::SameLine();
  app.layout.details_width -= Splitter("split.details", {gap, upper}, true) / Em();
  ImGui::SameLine();
  framed(ShowDetails, {details, upper});
  app.layout.table_share -= Splitter("split.table", {all.x, gap}, false) / std::max(all.y, 1.0f);
  framed(ShowLiveBlocks, {all.x, table});
  ImGui::PopStyleVar();
  ImGui::End();
  if (app.show_help) ShowHelp(app);
}

}  // namespace vramscope::viewer
