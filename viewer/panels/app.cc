// SPDX-License-Identifier: Apache-2.0
// The frame: a bar on top, the views with the overview below them, the details next to them, the table at the
// bottom.
#include "viewer/panels/app.h"

#include <algorithm>

#include "viewer/model/recent_files.h"

namespace vramscope::viewer {
namespace {

constexpr float kStackedBelow = 36;  // text heights: narrower windows have their parts below each other

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

void ShowView(App& app, ImVec2 size) {
  if (!BeginPanel("view", size)) return EndPanel();
  ShowViewTabs(app);
  ImVec2 rest = ImGui::GetContentRegionAvail();
  const bool overview = app.session.device() != nullptr;
  const float overview_height = overview ? Em(3.6f) : 0;
  rest.y = std::max(rest.y - overview_height - (overview ? ImGui::GetStyle().ItemSpacing.y : 0), Em(4));
  if (app.session.document() == nullptr) {
    ShowLoading(app, rest);
  } else if (app.session.device() == nullptr) {
    ShowWhyEmpty(rest,
                 "No allocation was recorded in this file. Did the command use PyTorch or TensorFlow? "
                 "vramscope info shows "
                 "what was hooked.");
  } else {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ShowViewContent(app, rest);
    ShowOverview(app, {rest.x, overview_height});
    app.Name("view", at, {at.x + rest.x, ImGui::GetItemRectMax().y});
  }
  EndPanel();
}

// Shows what was just done, at the bottom, without moving anything else.
void ShowSaid(App& app) {
  constexpr double kShown = 2.5;  // seconds
  if (ImGui::GetTime() - app.said_at > kShown) app.said.clear();
  if (app.said.empty()) return;
  ImDrawList& list = *ImGui::GetForegroundDrawList();
  const ImVec2 text = TextSize(look().fonts.text, app.said);
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  const ImVec2 at = {(screen.x - text.x) / 2, screen.y - text.y - Em(1.4f)};
  list.AddRectFilled({at.x - Em(0.8f), at.y - Em(0.4f)}, {at.x + text.x + Em(0.8f), at.y + text.y + Em(0.4f)},
                     look().colors.raised, Em(0.3f));
  DrawText(list, look().fonts.text, at, look().colors.text, app.said);
}

// Shows the parts below each other, for windows too narrow to show them side by side; the wheel scrolls.
void ShowStacked(App& app) {
  ImGui::BeginChild("stacked", {0, 0}, ImGuiChildFlags_None, ImGuiWindowFlags_AlwaysVerticalScrollbar);
  const ImVec2 all = ImGui::GetContentRegionAvail();
  ShowView(app, {all.x, std::max(all.y * 0.72f, Em(30))});
  if (app.layout.details) ShowDetails(app, {all.x, Em(26)});
  if (app.layout.table) ShowLiveBlocks(app, {all.x, Em(20)});
  ImGui::EndChild();
}

void ShowSideBySide(App& app) {
  const ImVec2 all = ImGui::GetContentRegionAvail();
  const float gap = Em(0.5f);
  const bool with_table = app.layout.table;
  const bool with_details = app.layout.details;
  const float table = std::clamp(all.y * app.layout.table_share, Em(5), std::max(Em(5), all.y - Em(14)));
  const float details = std::clamp(Em(app.layout.details_width), Em(12), std::max(Em(12), all.x - Em(24)));
  const float upper = with_table ? all.y - table - gap : all.y;
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
  const ImGuiStyle& style = ImGui::GetStyle();
  const ImVec2 spacing = {style.FramePadding.x * 0.9f, style.FramePadding.y * 1.5f};
  const auto framed = [&](void (*show)(App&, ImVec2), ImVec2 size) {
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, spacing);
    show(app, size);
    ImGui::PopStyleVar();
  };
  framed(ShowView, {with_details ? all.x - details - gap : all.x, upper});
  if (with_details) {
    ImGui::SameLine();
    app.layout.details_width -= Splitter("split.details", {gap, upper}, true) / Em();
    ImGui::SameLine();
    framed(ShowDetails, {details, upper});
  }
  if (with_table) {
    app.layout.table_share -= Splitter("split.table", {all.x, gap}, false) / std::max(all.y, 1.0f);
    framed(ShowLiveBlocks, {all.x, table});
  }
  ImGui::PopStyleVar();
}

}  // namespace

void App::Say(std::string what) {
  said = std::move(what);
  said_at = ImGui::GetTime();
}

void AskForFile(App& app) {
  if (app.choose_files) return app.choose_files();
  app.show_open = !app.show_open;
  app.focus_open = app.show_open;
}

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
  strips.Forget();
  map = {};
  address_time.Forget();
  fragmentation = {};
  autopsy = {};      // waits for its thread
  comparison = {};   // and this
  whatif.Forget();   // and this
  leaks.Clear();     // and this
  job.Clear();       // and this
  summary.Forget();  // and this
  lines.Forget();    // and this
  card.Clear();      // and this
  fragmentation_history.Clear();
  owners.Clear();
  range_change = {};
  event_in_table = model::kNever;
}

void App::CloseFile(size_t file) {
  ForgetViews();
  whatif.Clear();  // the next file has other questions
  summary.Clear();
  lines.Clear();
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
  look_changed = true;
}

// Writes a changed layout, but not during a drag, which would write a file in every frame.
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
  app.waits = Waits::kNothing;
  app.will_move = false;
  app.WaitFor(app.session.counting(), Waits::kPicture);
  HandleKeys(app);
  const ImGuiIO& io = ImGui::GetIO();
  ImGui::SetNextWindowPos({0, 0});
  ImGui::SetNextWindowSize(io.DisplaySize);
  ImGui::Begin("vramscope", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                   ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_NoScrollWithMouse);
  ShowTopBar(app);
  if (ImGui::GetContentRegionAvail().x < Em(kStackedBelow))
    ShowStacked(app);
  else
    ShowSideBySide(app);
  ImGui::End();
  ShowSaid(app);
  if (app.show_help) ShowHelp(app);
  if (app.show_open) ShowOpen(app);
}

}  // namespace vramscope::viewer
