// SPDX-License-Identifier: Apache-2.0
// What all panels share: the session, the keys of this frame, the names of what is on the screen.
//
// One panel is one file and one function that gets the App and the size it has. Panels read the session and
// call its verbs; they compute nothing that a test without a window would want to check.
#pragma once

#include <imgui.h>

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "viewer/model/address_map.h"
#include "viewer/model/address_time.h"
#include "viewer/model/comparison.h"
#include "viewer/model/fragmentation_history.h"
#include "viewer/model/fragmentation_view.h"
#include "viewer/model/layout_file.h"
#include "viewer/model/leaks_view.h"
#include "viewer/model/live_table.h"
#include "viewer/model/owner_view.h"
#include "viewer/model/session.h"
#include "viewer/model/source_lines.h"
#include "viewer/model/table_file.h"
#include "viewer/model/timeline_picture.h"
#include "viewer/model/whatif_view.h"
#include "viewer/platform/keyboard_and_fonts.h"
#include "viewer/platform/theme.h"

namespace vramscope::viewer {

struct Rectangle {
  ImVec2 min;
  ImVec2 max;
};

// The timeline's columns, made again only when what they show has changed.
struct TimelineCache {
  const DeviceView* device = nullptr;
  TimeView window;
  size_t columns = 0;
  CategoryMask shown = 0;
  TimelinePicture picture;

  const TimelinePicture& Get(const Document& document, const DeviceView& of, const TimeView& view,
                             size_t columns_wanted);
};

// How much of the timeline its ranges may take.
enum class LaneRowsShown : uint8_t { kFew, kAll, kNone };

// The source of a frame that was clicked, read once.
struct OpenSource {
  std::string frame;
  SourcePlace place;
  Result<SourceExcerpt> excerpt;
};

struct App {
  explicit App(std::function<void()> wake) : session(std::move(wake)) {}

  Session session;
  KeyQueue keys;
  LiveTable live;
  SavedTable saved;  // of it
  TimelineCache timeline;
  TimelineCache overview;
  AddressMap map;
  FragmentationView fragmentation;
  AutopsyView autopsy;        // behind the session, whose layouts it reads on a thread
  ComparisonView comparison;  // and this its documents
  WhatIfView whatif;
  LeaksView leaks;
  OwnerView owners;
  AddressTimeView address_time;
  double address_low = 0;  // places on the axis of addresses that are shown
  double address_high = 1;
  model::BlockId hover_block = model::kNone;  // there
  size_t compare_with = 0;                    // the file that stands for before
  FragmentationHistory fragmentation_history;

  bool show_help = false;
  bool show_pins = false;  // on the address map
  LaneRowsShown lane_rows = LaneRowsShown::kFew;
  std::optional<OpenSource> source;
  std::string hover_range;  // the name of the range under the mouse
  WindowLayout layout;
  bool look_changed = false;   // the theme: whoever owns the window sets the style again
  bool fonts_changed = false;  // the size of the text: also the fonts
  float scale = 1;             // of the display
  [[nodiscard]] float text_scale() const { return scale * layout.text_size; }
  bool focus_filter = false;
  model::BlockId block_in_table = model::kNone;  // the selection that the table has scrolled to
  bool quit = false;
  std::string renderer;  // for the help
  std::optional<double> drag_from_ns;
  std::optional<double> hover_ns;

  std::string recent_list;                         // where recent files are remembered; "" = they are not
  std::optional<std::vector<std::string>> recent;  // read when they are to be seen
  // With everything that was made from it.
  void CloseFile(size_t file);
  // The theme, the sizes of the window's parts and of the text, as the last window was left. `dark`: the
  // theme that was asked for.
  void UseLayout(const std::string& file, std::optional<bool> dark);
  void RememberLayout();
  std::string layout_file;  // "" = it is not remembered
  WindowLayout layout_kept;
  // Everything that panels have made from documents.
  void ForgetViews();
  // Files that have been opened since the last call go to the recent ones.
  void RememberOpened();
  uint64_t generation = 0;  // of the documents that the views were made from

  // Where the elements of this frame are, by name: for scripts.
  std::map<std::string, Rectangle> elements;
  void Name(const std::string& name, ImVec2 min, ImVec2 max) { elements[name] = {min, max}; }
  void NameLastItem(const std::string& name) { Name(name, ImGui::GetItemRectMin(), ImGui::GetItemRectMax()); }
};

// All of one frame, between ImGui::NewFrame and ImGui::Render.
void ShowFrame(App& app);

// Panels.
void ShowTopBar(App& app);
void ShowTimeline(App& app, ImVec2 size);
void ShowOverview(App& app, ImVec2 size);
void ShowDetails(App& app, ImVec2 size);
void ShowLiveBlocks(App& app, ImVec2 size);
void ShowAddressMap(App& app, ImVec2 size);
void ShowAddressTime(App& app, ImVec2 size);
void ShowFragmentation(App& app, ImVec2 size);
void ShowFragmentationHistory(App& app, const LayoutView& layout, ImVec2 size);
void ShowOutOfMemory(App& app, ImVec2 size);
void ShowCompare(App& app, ImVec2 size);
void ShowWhatIf(App& app, ImVec2 size);
void ShowOwners(App& app, ImVec2 size);
void ShowLeaks(App& app, ImVec2 size);
void ShowLoading(App& app, ImVec2 size);
void ShowHelp(App& app);

// Rows of named ranges below the timeline that there is room for in a view of that height; how high they are;
// and these, from `min` to `right`. Returns whether the mouse is on one, which it then also handles.
[[nodiscard]] size_t LaneRows(const App& app, const DeviceView& device, float height);
[[nodiscard]] float LaneHeight(size_t rows);
bool ShowRangeLanes(App& app, const DeviceView& device, size_t rows, ImVec2 min, float right, bool hovered);

// What the keyboard does wherever the focus is, but for text fields.
void HandleKeys(App& app);

// --- words and strokes that panels share

// Text at a place, in one of the fonts; nothing is pushed, so it is cheap.
void DrawText(ImDrawList& list, ImFont* font, ImVec2 at, ImU32 color, const std::string& text,
              float wrap = 0);
[[nodiscard]] ImVec2 TextSize(ImFont* font, const std::string& text);
// The same, cut with an ellipsis so that it is at most `width` wide.
[[nodiscard]] std::string FitText(ImFont* font, const std::string& text, float width);
// One sentence in the middle of `size`, for what is not there and why.
void ShowWhyEmpty(ImVec2 size, const std::string& sentence);
// In as many lines as it needs, broken at spaces alone: ImGui's own wrapping also breaks behind a point, and
// so within a number.
void ShowWrapped(const std::string& text);
// "Name      value" in the details.
void ShowFact(const char* label, const std::string& value);
void ShowHeading(const std::string& text);
// Times along the upper edge of a view, with lines down through it.
void DrawTimeAxis(ImDrawList& list, ImVec2 min, ImVec2 max, const TimeView& view, float axis_top);
// What the mouse does to time in a view: zoom, pan, the moment, a range. For the last item.
struct TimeMouse {
  float left = 0;  // of the plot
  float right = 0;
  bool hovered = false;
  bool active = false;
  bool selects = true;  // a press may set the moment or begin a range
};
void NavigateTime(App& app, const TimeMouse& mouse);
// The choice of what blocks are coloured by, as wide as `width`; and what the colours mean, on as many lines
// as they need (returned before it is drawn as the height of the legend).
void ShowColouringChoice(App& app, float width);
[[nodiscard]] float LegendHeight(const std::vector<LegendEntry>& legend, float width);
void DrawLegend(ImDrawList& list, ImVec2 at, const std::vector<LegendEntry>& legend, float width);
// A panel with a border and the panel colour; EndPanel after its content.
bool BeginPanel(const char* name, ImVec2 size);
void EndPanel();
// Slanted lines over a rectangle, inside it.
void Hatch(ImDrawList& list, ImVec2 min, ImVec2 max, ImU32 color);

}  // namespace vramscope::viewer
