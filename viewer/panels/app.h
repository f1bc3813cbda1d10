// SPDX-License-Identifier: Apache-2.0
// The state that all panels of the viewer share: the session, the keys pressed in this frame, and the names
// of the elements on the screen.
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

// The columns of the timeline, cached between frames.
struct TimelineCache {
  const DeviceView* device = nullptr;
  TimeView window;
  size_t columns = 0;
  CategoryMask shown = 0;
  TimelinePicture picture;

  const TimelinePicture& Get(const Document& document, const DeviceView& of, const TimeView& view,
                             size_t columns_wanted);
};

// The format of a saved picture: PNG has pixels, SVG has shapes and texts.
enum class PictureKind : uint8_t { kNone, kPng, kSvg };
// The name of a line over the timeline, and the place where the last frame drew it.
struct DrawnLineLabel {
  MemoryLine line{};
  Rectangle where;
};

// How many rows of named ranges the timeline shows.
enum class LaneRowsShown : uint8_t { kFew, kAll, kNone };

struct OpenSource {
  std::string frame;
  SourcePlace place;
  Result<SourceExcerpt> excerpt;
};

// Reason why the current frame is not final yet. Only visible views report a reason.
enum class Waits : uint8_t {
  kNothing,
  kPicture,   // waits for a thread; no element on the screen will move
  kThread,    // waits for a thread whose result may move elements
  kNextFrame  // each frame does a part of the work itself
};

struct App {
  explicit App(std::function<void()> wake) : session(std::move(wake)) {}

  Session session;
  KeyQueue keys;
  LiveTable live;
  SavedTable saved;  // the last saved table of `live`
  TimelineCache timeline;
  TimelineCache overview;
  std::vector<DrawnLineLabel> line_labels;
  RankStripsView strips;
  LineBandsView lines;  // lines of code; declared after `session`, which its thread reads
  AddressMap map;
  FragmentationView fragmentation;
  AutopsyView autopsy;        // declared after `session`, which its thread reads
  ComparisonView comparison;  // declared after `session`, which its thread reads
  WhatIfView whatif;
  LeaksView leaks;
  JobView job;
  std::string hover_cell;  // text about the cell under the mouse
  SummaryView summary;
  BlockCardView card;
  OwnerView owners;
  AddressTimeView address_time;
  double address_low = 0;  // visible part of the address axis, 0 to 1
  double address_high = 1;
  model::BlockId hover_block = model::kNone;  // block under the mouse in the address view
  model::EventIndex moment_before_click = 0;
  ComparedFiles compared;
  FragmentationHistory fragmentation_history;

  Waits waits = Waits::kNothing;
  bool will_move = false;  // true: something in this frame waits with kThread
  void WaitFor(bool busy, Waits how = Waits::kThread) {
    if (!busy) return;
    waits = std::max(waits, how);
    will_move |= how == Waits::kThread;
  }

  bool show_help = false;
  PictureKind picture = PictureKind::kNone;  // requested picture; the next frame is saved
  bool picture_ready = false;                // true: the current frame will be saved
  ImVec2 mouse_before_picture = {0, 0};
  // Shows a message for a short time: "copied", "saved as run.owners-4711.png".
  void Say(std::string what);
  std::string said;
  double said_at = -1e9;
  bool show_open = false;  // true: show the overlay that asks for a file
  std::string open_path;   // text in the overlay's input field
  // Opens the platform's file dialog. If empty, the viewer shows its own dialog (ShowOpen).
  std::function<void()> choose_files;
  // Opens a link in another program, such as "vscode://file/..."; may be empty.
  std::function<void(const std::string&)> open_link;
  bool show_pins = false;  // true: the address map marks pins
  LaneRowsShown lane_rows = LaneRowsShown::kFew;
  std::optional<OpenSource> source;
  std::string hover_range;  // name of the range under the mouse
  WindowLayout layout;
  bool look_changed = false;  // theme or text size has changed: call UseLook again
  float scale = 1;            // scale factor of the display
  [[nodiscard]] float text_scale() const { return scale * layout.text_size; }
  bool focus_filter = false;
  bool focus_open = false;
  RangeChangeView range_change;
  std::optional<std::string> note_text;  // text of the note that the user is writing
  double note_at_ns = 0;
  bool focus_note = false;
  model::EventIndex event_in_table = model::kNever;  // moment to which the list of events has scrolled
  size_t file_in_view = SIZE_MAX;                    // file to whose tab the tab bar has scrolled
  std::pair<Tab, float> tab_in_view;                 // view to whose tab the bar has scrolled; its width
  model::BlockId block_in_table = model::kNone;      // block to which the table has scrolled
  bool quit = false;
  std::string renderer;  // name of the renderer, for the help
  std::optional<double> drag_from_ns;
  bool drags_edge = false;  // true: the mouse moves one edge of the selected range
  std::optional<double> hover_ns;

  std::string recent_list;                         // path of the list of recent files; "" = no list
  std::optional<std::vector<std::string>> recent;  // recent files; read when first shown
  // Closes the file and clears all views of the file.
  void CloseFile(size_t file);
  // Restores theme, sizes and text size of the last session from `file`. `dark` is the theme that the user
  // requested.
  void UseLayout(const std::string& file, std::optional<bool> dark);
  void RememberLayout();
  std::string layout_file;  // file for `layout`; "" = the layout is not saved
  WindowLayout layout_kept;
  void ForgetViews();
  // Adds newly opened files to the recent files.
  void RememberOpened();
  uint64_t generation = 0;  // generation of the documents that the views show

  // The positions of elements, for scripts. The key is the element's name.
  std::map<std::string, Rectangle> elements;
  void Name(const std::string& name, ImVec2 min, ImVec2 max) { elements[name] = {min, max}; }
  std::string sought;  // element that a script needs next; it is scrolled into view
  void NameLastItem(const std::string& name) { Name(name, ImGui::GetItemRectMin(), ImGui::GetItemRectMax()); }
};

// Shows one frame. Call between ImGui::NewFrame and ImGui::Render.
void ShowFrame(App& app);

// Panels.
void ShowTopBar(App& app);
void ShowSummary(App& app, ImVec2 size);
void ShowTimeline(App& app, ImVec2 size);
void ShowOverview(App& app, ImVec2 size);
void ShowDetails(App& app, ImVec2 size);
void ShowBlockCard(App& app);  // card of the selected block, inside the details
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
// Shows the list of events in the remaining space.
void ShowEvents(App& app);
// Notes of the user. DrawNotes() draws flags over a view of time; ShowNotes() shows the list in the details.
void DrawNotes(App& app, ImVec2 min, ImVec2 max);
void ShowNotes(App& app);
void AskForNote(App& app);
// Shows how memory changes over the selected range, by category and line of code.
void ShowRangeChange(App& app, const DeviceView& device);
// Shows the overlay that asks for a file: an input field, and the entries of the folder.
void ShowOpen(App& app);
void AskForFile(App& app);
// ShowViewTabs() shows the tabs of all views, and the buttons of the current view. ShowViewContent() shows
// the current view.
void ShowViewTabs(App& app);
void ShowViewContent(App& app, ImVec2 size);
// Switches to another view. The user can go back.
void GoToView(App& app, Tab tab);
// Returns the current view as lines of CSV, or "" if the view is not a table.
[[nodiscard]] std::string ViewTable(const App& app);
void CopyViewTable(App& app);
// Saves the requested picture next to the file. Call after ImGui::Render.
void SavePicture(App& app);
// Begins a window on top of all other windows.
bool BeginOverlay(const char* title, bool& open);

// Shows one strip for each GPU, with at most a third of the height of `size`. Returns the height of the
// strips.
float ShowRankStrips(App& app, ImVec2 size);
// Rows of named ranges below the timeline. LaneRows() returns the number of rows for a view with this height.
// LaneHeight() returns the height of the rows. ShowRangeLanes() draws from `min` to `right`; returns true if
// the mouse is on a row.
[[nodiscard]] size_t LaneRows(const App& app, const DeviceView& device, float height);
[[nodiscard]] float LaneHeight(size_t rows);
bool ShowRangeLanes(App& app, const DeviceView& device, size_t rows, ImVec2 min, float right, bool hovered);

// The area of the timeline in which memory is plotted.
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
// DrawMemoryLines() draws the lines of reserved memory, used memory and capacity. DrawLineLabels() draws
// their names. Call DrawLineLabels() after everything else.
void DrawMemoryLines(const App& app, const MemoryPlot& plot, const TimelinePicture& picture);
void DrawLineLabels(App& app, const MemoryPlot& plot, const TimelinePicture& picture);
[[nodiscard]] ImU32 ColorOf(MemoryLine line);
// Handles mouse input on the names of lines. Returns true if the mouse is on a name.
bool HandleLineLabels(App& app, bool hovered);
// Zooms the memory axis when the user turns the wheel over the plot with Ctrl pressed.
void ZoomMemory(App& app, const MemoryPlot& plot);
void ShowAxisChoice(App& app, ImVec2 at, ImVec2 size);
// Switches the x axis to the next possible unit.
void NextTimeAxis(App& app);

// Handles the keys that work everywhere except in text fields.
void HandleKeys(App& app);

// --- text and drawing helpers that panels share

// Draws text at a position. Fast, because it does not push a font.
void DrawText(ImDrawList& list, const Font& font, ImVec2 at, ImU32 color, const std::string& text,
              float wrap = 0);
// After this call, DrawText() adds each text that exceeds the left or right edge to `found`. nullptr ends
// this.
void SeekCutTexts(std::vector<std::string>* found);
// Returns the x position of the right end of the line, for ImGui::SameLine.
[[nodiscard]] inline float RightEdge() { return ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x; }
[[nodiscard]] ImVec2 TextSize(const Font& font, const std::string& text);
// Returns the text; if it is wider than `width`, shortened with an ellipsis.
[[nodiscard]] std::string FitText(const Font& font, const std::string& text, float width);
// Returns the text with line breaks, so that lines are at most `width` wide. Splits words that are wider.
[[nodiscard]] std::string WrapText(const Font& font, const std::string& text, float width);
// Divides a view into two parts. The parts are side by side, and the first is `left` wide. In a narrow view,
// the second part is below the first. Then the first part gets `share` of the height. If `share` is 0, each
// part is as high as its content, and the window scrolls.
struct TwoParts {
  ImVec2 first;
  ImVec2 second;
  bool beside = true;
};
[[nodiscard]] TwoParts SplitView(ImVec2 size, float left, float share);
// Begins a child window for one part. `size` is TwoParts::first or TwoParts::second.
void BeginPart(const char* name, ImVec2 size);
// Shows a sentence in the middle of an empty view that explains why the view is empty.
void ShowWhyEmpty(ImVec2 size, const std::string& sentence);
// Shows text that wraps only at spaces. ImGui would also wrap after a period inside a number.
void ShowWrapped(const std::string& text);
// Like ShowWrapped, in the color of secondary text.
void ShowNote(const std::string& text);
// Places the next item, which is `width` wide, on the line of the last item if it fits, at a distance of
// `gap`.
void StayOnLine(float width, float gap);
[[nodiscard]] float ButtonWidth(const std::string& label);
// Begins a table that is at least `least` wide. In a narrower view the table scrolls sideways.
[[nodiscard]] bool BeginWideTable(const char* id, size_t columns, ImGuiTableFlags flags, float least);
// The place of a note in a view. The view's controls are at the right of the first line, and the note is to
// their left. In a narrow view, the note is below the controls and has two lines.
struct NotePlace {
  ImVec2 at;
  float width = 0;
  bool below = false;
  float height = 0;  // height of controls and note
};
[[nodiscard]] NotePlace PlaceNote(ImVec2 at, float width, float controls);
void DrawNote(ImDrawList& list, const NotePlace& place, const std::string& text);
// Shows one line "label      value" in the details.
void ShowFact(const char* label, const std::string& value);
// Shows a heading. `note` is secondary text after the heading; in a narrow view, the note is below.
void ShowHeading(const std::string& text, const std::string& note = "");
// Draws times along the upper edge of a view, with vertical lines.
void DrawTimeAxis(ImDrawList& list, ImVec2 min, ImVec2 max, const TimeView& view, float axis_top);
// NavigateTime() handles mouse input on the last ImGui item, which has a time axis: zoom, pan, selection of a
// moment or a range.
struct TimeMouse {
  float left = 0;  // edges of the plot
  float right = 0;
  bool hovered = false;
  bool active = false;
  bool selects = true;  // true: a mouse press may select a moment or begin a range
};
void NavigateTime(App& app, const TimeMouse& mouse);
// ShowColoringChoice() shows the choice of block colors, `width` wide. DrawLegend() draws the legend on as
// many lines as necessary. LegendHeight() returns the height of the legend.
void ShowColoringChoice(App& app, float width);
[[nodiscard]] float LegendHeight(const std::vector<LegendEntry>& legend, float width);
void DrawLegend(ImDrawList& list, ImVec2 at, const std::vector<LegendEntry>& legend, float width);
// Lets the mouse wheel scroll the child window sideways.
void ScrollSideways();
// Begins a panel with border and background color. Call EndPanel() after the content.
bool BeginPanel(const char* name, ImVec2 size);
void EndPanel();
// Draws slanted lines inside a rectangle.
void Hatch(ImDrawList& list, ImVec2 min, ImVec2 max, ImU32 color);

}  // namespace vramscope::viewer
