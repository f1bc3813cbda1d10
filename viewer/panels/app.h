// SPDX-License-Identifier: Apache-2.0
// The state that all panels share: the session, this frame's keys, the names of the elements on the screen.
//
// A panel is one file with one function, which gets the App and its size. Panels read the session and call
// its functions. They compute nothing that should be tested without a window.
#pragma once

#include <imgui.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "viewer/model/address_map.h"
#include "viewer/model/address_time.h"
#include "viewer/model/block_card.h"
#include "viewer/model/comparison.h"
#include "viewer/model/fragmentation_history.h"
#include "viewer/model/fragmentation_view.h"
#include "viewer/model/job_view.h"
#include "viewer/model/layout_file.h"
#include "viewer/model/leaks_view.h"
#include "viewer/model/line_bands.h"
#include "viewer/model/live_table.h"
#include "viewer/model/owner_view.h"
#include "viewer/model/range_change.h"
#include "viewer/model/rank_strips.h"
#include "viewer/model/session.h"
#include "viewer/model/source_lines.h"
#include "viewer/model/summary_view.h"
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

// The timeline's columns.
struct TimelineCache {
  const DeviceView* device = nullptr;
  TimeView window;
  size_t columns = 0;
  CategoryMask shown = 0;
  TimelinePicture picture;

  const TimelinePicture& Get(const Document& document, const DeviceView& of, const TimeView& view,
                             size_t columns_wanted);
};

// How to save a picture: pixels, or shapes and texts.
enum class PictureKind : uint8_t { kNone, kPng, kSvg };
// A line's name over the timeline, as drawn in the last frame.
struct DrawnLineLabel {
  MemoryLine line{};
  Rectangle where;
};

// Rows of named ranges on the timeline.
enum class LaneRowsShown : uint8_t { kFew, kAll, kNone };

struct OpenSource {
  std::string frame;
  SourcePlace place;
  Result<SourceExcerpt> excerpt;
};

// What the shown frame waits for. Only shown views report it.
enum class Waits : uint8_t {
  kNothing,
  kPicture,   // a thread; everything on the screen stays in place
  kThread,    // a thread whose answer may move what is on the screen
  kNextFrame  // each frame does a part of the work
};

struct App {
  explicit App(std::function<void()> wake) : session(std::move(wake)) {}

  Session session;
  KeyQueue keys;
  LiveTable live;
  SavedTable saved;  // of `live`
  TimelineCache timeline;
  TimelineCache overview;
  std::vector<DrawnLineLabel> line_labels;
  RankStripsView strips;
  LineBandsView lines;  // of code; after the session, which its thread reads
  AddressMap map;
  FragmentationView fragmentation;
  AutopsyView autopsy;        // after the session, whose layouts its thread reads
  ComparisonView comparison;  // likewise: its thread reads documents
  WhatIfView whatif;
  LeaksView leaks;
  JobView job;
  std::string hover_cell;  // about the cell under the mouse
  SummaryView summary;
  BlockCardView card;
  OwnerView owners;
  AddressTimeView address_time;
  double address_low = 0;  // visible places on the address axis
  double address_high = 1;
  model::BlockId hover_block = model::kNone;  // under the mouse, in the view of addresses
  model::EventIndex moment_before_click = 0;
  ComparedFiles compared;
  FragmentationHistory fragmentation_history;

  Waits waits = Waits::kNothing;
  bool will_move = false;  // one of this frame's waits is kThread
  void WaitFor(bool busy, Waits how = Waits::kThread) {
    if (!busy) return;
    waits = std::max(waits, how);
    will_move |= how == Waits::kThread;
  }

  bool show_help = false;
  PictureKind picture = PictureKind::kNone;  // requested; saved from the next frame
  bool picture_ready = false;                // that frame is being drawn
  ImVec2 mouse_before_picture = {0, 0};
  // Shown for a moment: "copied", "saved as run.owners-4711.png".
  void Say(std::string what);
  std::string said;
  double said_at = -1e9;
  bool show_open = false;  // the overlay that asks for a file
  std::string open_path;   // what is typed there
  // The platform's file dialog; empty: the viewer has its own (ShowOpen).
  std::function<void()> choose_files;
  // Opens a link in another program, such as "vscode://file/..."; may be empty.
  std::function<void(const std::string&)> open_link;
  bool show_pins = false;  // on the address map
  LaneRowsShown lane_rows = LaneRowsShown::kFew;
  std::optional<OpenSource> source;
  std::string hover_range;  // the name of the range under the mouse
  WindowLayout layout;
  bool look_changed = false;  // theme or text size: the window's owner sets the style again
  float scale = 1;            // of the display
  [[nodiscard]] float text_scale() const { return scale * layout.text_size; }
  bool focus_filter = false;
  bool focus_open = false;
  RangeChangeView range_change;
  std::optional<std::string> note_text;  // being written
  double note_at_ns = 0;
  bool focus_note = false;
  model::EventIndex event_in_table = model::kNever;  // moment that the list of events has scrolled to
  size_t file_in_view = SIZE_MAX;                    // the file whose tab was scrolled to
  std::pair<Tab, float> tab_in_view;                 // the same for views, and the width of their tabs
  model::BlockId block_in_table = model::kNone;      // the selection that the table has scrolled to
  bool quit = false;
  std::string renderer;  // for the help
  std::optional<double> drag_from_ns;
  bool drags_edge = false;  // of the range: the other edge stays
  std::optional<double> hover_ns;

  std::string recent_list;                         // list of recent files; "" = none
  std::optional<std::vector<std::string>> recent;  // read when they are first shown
  // Closes the file and everything made from it.
  void CloseFile(size_t file);
  // Theme, sizes and text size of the last session. `dark`: the requested theme.
  void UseLayout(const std::string& file, std::optional<bool> dark);
  void RememberLayout();
  std::string layout_file;  // "" = not remembered
  WindowLayout layout_kept;
  void ForgetViews();
  // Adds newly opened files to the recent files.
  void RememberOpened();
  uint64_t generation = 0;  // of the views' documents

  // Positions of elements by name, for scripts.
  std::map<std::string, Rectangle> elements;
  void Name(const std::string& name, ImVec2 min, ImVec2 max) { elements[name] = {min, max}; }
  std::string sought;  // the element that a script needs next: scrolls into view
  void NameLastItem(const std::string& name) { Name(name, ImGui::GetItemRectMin(), ImGui::GetItemRectMax()); }
};

// One frame, between ImGui::NewFrame and ImGui::Render.
void ShowFrame(App& app);

// Panels.
void ShowTopBar(App& app);
void ShowSummary(App& app, ImVec2 size);
void ShowTimeline(App& app, ImVec2 size);
void ShowOverview(App& app, ImVec2 size);
void ShowDetails(App& app, ImVec2 size);
void ShowBlockCard(App& app);  // of the selected block, within the details
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
void ShowRanks(App& app, ImVec2 size);
void ShowLoading(App& app, ImVec2 size);
void ShowHelp(App& app);
// The list of events, in the remaining space.
void ShowEvents(App& app);
// Notes: flags over a view of time, and the list among the details.
void DrawNotes(App& app, ImVec2 min, ImVec2 max);
void ShowNotes(App& app);
void AskForNote(App& app);
// The change over a range, by category and line of code.
void ShowRangeChange(App& app, const DeviceView& device);
// Asks for a file: the typed text, and the folder's entries.
void ShowOpen(App& app);
void AskForFile(App& app);
// The tabs of all views with the shown one's buttons; then its content.
void ShowViewTabs(App& app);
void ShowViewContent(App& app, ImVec2 size);
// Shows another view. Back returns.
void GoToView(App& app, Tab tab);
// The view as lines of CSV; "" if it is no table.
[[nodiscard]] std::string ViewTable(const App& app);
void CopyViewTable(App& app);
// Saves the requested picture next to the file. Call after ImGui::Render.
void SavePicture(App& app);
// A window over everything else.
bool BeginOverlay(const char* title, bool& open);

// The strips of all GPUs, at most a third of `size` high. Returns their height.
float ShowRankStrips(App& app, ImVec2 size);
// Named ranges below the timeline. LaneRows(): rows that fit in a view. LaneHeight(): their height.
// ShowRangeLanes() draws from `min` to `right`. True if the mouse is on a row.
[[nodiscard]] size_t LaneRows(const App& app, const DeviceView& device, float height);
[[nodiscard]] float LaneHeight(size_t rows);
bool ShowRangeLanes(App& app, const DeviceView& device, size_t rows, ImVec2 min, float right, bool hovered);

// The timeline's plot of memory.
struct MemoryPlot {
  ImVec2 min;
  ImVec2 max;
  MemoryAxis axis;
  [[nodiscard]] float Y(double bytes) const {
    return max.y - static_cast<float>(axis.ShareOf(bytes)) * (max.y - min.y);
  }
  [[nodiscard]] float X(const TimeView& view, double time_ns) const {
    return min.x + static_cast<float>(view.PlaceOf(time_ns)) * (max.x - min.x);
  }
  [[nodiscard]] bool Holds(ImVec2 point) const {
    return point.x >= min.x && point.x < max.x && point.y >= min.y && point.y < max.y;
  }
};
// Lines for reserved memory, the device's used memory and capacity; then their names. Draw names last.
void DrawMemoryLines(const App& app, const MemoryPlot& plot, const TimelinePicture& picture);
void DrawLineLabels(App& app, const MemoryPlot& plot, const TimelinePicture& picture);
[[nodiscard]] ImU32 ColorOf(MemoryLine line);
// Handles the mouse on the names of lines: true if the mouse is on a name.
bool HandleLineLabels(App& app, bool hovered);
// Ctrl and the wheel over the plot zoom the memory axis.
void ZoomMemory(App& app, const MemoryPlot& plot);
void ShowAxisChoice(App& app, ImVec2 at, ImVec2 size);
// Switches the x axis to the next possible unit.
void NextTimeAxis(App& app);

// Keys that work everywhere except in text fields.
void HandleKeys(App& app);

// --- text and drawing helpers that panels share

// Draws text at a position. Pushes no font: cheap.
void DrawText(ImDrawList& list, const Font& font, ImVec2 at, ImU32 color, const std::string& text,
              float wrap = 0);
// From now on, DrawText adds to `found` texts beyond the left or right edge. nullptr: off.
void SeekCutTexts(std::vector<std::string>* found);
// The line's end, for ImGui::SameLine.
[[nodiscard]] inline float RightEdge() { return ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x; }
[[nodiscard]] ImVec2 TextSize(const Font& font, const std::string& text);
// The text with an ellipsis, at most `width`.
[[nodiscard]] std::string FitText(const Font& font, const std::string& text, float width);
// The text with line breaks, so that lines are at most `width` wide. Divides longer words.
[[nodiscard]] std::string WrapText(const Font& font, const std::string& text, float width);
// Two parts side by side, the first `left` wide. In a narrow view, one below the other. The first then gets
// `share` of the height; 0: each is as high as its content, and the window scrolls.
struct TwoParts {
  ImVec2 first;
  ImVec2 second;
  bool beside = true;
};
[[nodiscard]] TwoParts SplitView(ImVec2 size, float left, float share);
// Begins a child window of one of these sizes.
void BeginPart(const char* name, ImVec2 size);
// One sentence in the middle of `size`: why there is nothing to show.
void ShowWhyEmpty(ImVec2 size, const std::string& sentence);
// Wraps only at spaces. ImGui also breaks after a period, within numbers.
void ShowWrapped(const std::string& text);
// Like ShowWrapped, in the color of secondary text.
void ShowNote(const std::string& text);
// Puts the next item (`width` wide) on the last one's line if it fits, `gap` after it.
void StayOnLine(float width, float gap);
[[nodiscard]] float ButtonWidth(const std::string& label);
// A table at least `least` wide: in a narrower view it scrolls sideways.
[[nodiscard]] bool BeginWideTable(const char* id, size_t columns, ImGuiTableFlags flags, float least);
// A note at the left of a view's controls, which are at the right of its first line. In a narrow view, below
// them on two lines.
struct NotePlace {
  ImVec2 at;
  float width = 0;
  bool below = false;
  float height = 0;  // of controls and note
};
[[nodiscard]] NotePlace PlaceNote(ImVec2 at, float width, float controls);
void DrawNote(ImDrawList& list, const NotePlace& place, const std::string& text);
// "Name      value" in the details.
void ShowFact(const char* label, const std::string& value);
// `note`: secondary text after the heading, or below in a narrow view.
void ShowHeading(const std::string& text, const std::string& note = "");
// Times along the upper edge of a view, with vertical lines.
void DrawTimeAxis(ImDrawList& list, ImVec2 min, ImVec2 max, const TimeView& view, float axis_top);
// Handles the mouse on the time axis of the last ImGui item: zoom, pan, moment, range.
struct TimeMouse {
  float left = 0;  // of the plot
  float right = 0;
  bool hovered = false;
  bool active = false;
  bool selects = true;  // a press may set the moment or begin a range
};
void NavigateTime(App& app, const TimeMouse& mouse);
// The choice of block colors (`width` wide), and the legend, on as many lines as needed. LegendHeight(): its
// height.
void ShowColoringChoice(App& app, float width);
[[nodiscard]] float LegendHeight(const std::vector<LegendEntry>& legend, float width);
void DrawLegend(ImDrawList& list, ImVec2 at, const std::vector<LegendEntry>& legend, float width);
// The wheel scrolls the child window sideways.
void ScrollSideways();
// A panel with border and color; call EndPanel after its content.
bool BeginPanel(const char* name, ImVec2 size);
void EndPanel();
// Draws slanted lines inside a rectangle.
void Hatch(ImDrawList& list, ImVec2 min, ImVec2 max, ImU32 color);

}  // namespace vramscope::viewer
