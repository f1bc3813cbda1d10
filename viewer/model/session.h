// SPDX-License-Identifier: Apache-2.0
// The state of the viewer without its looks: the open files, the visible stretch of time, the moment that
// everything follows, the selection, and the history for "back".
//
// Panels read it and call its functions; so do tests and scripts. Single-threaded.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "viewer/model/coloring.h"
#include "viewer/model/document.h"
#include "viewer/model/live_table.h"
#include "viewer/model/load_job.h"
#include "viewer/model/memory_axis.h"
#include "viewer/model/notes.h"
#include "viewer/model/tail.h"
#include "viewer/model/time_view.h"

namespace vramscope::viewer {

enum class Tab : uint8_t {
  kTimeline,
  kMap,
  kAddressTime,
  kFragmentation,
  kOutOfMemory,
  kCompare,
  kWhatIf,
  kOwners,
  kLeaks,
  kSummary
};
inline constexpr size_t kTabCount = 10;
[[nodiscard]] const char* TabKey(Tab tab);  // "timeline": for --view and scripts
[[nodiscard]] std::optional<Tab> TabFromKey(std::string_view key);

struct TimeRange {
  double begin_ns = 0;
  double end_ns = 0;
  friend bool operator==(const TimeRange&, const TimeRange&) = default;
};

// The place that "back" returns to.
struct Place {
  size_t file = 0;
  size_t device = 0;
  Tab tab = Tab::kSummary;
  TimeView window;
  MemoryZoom memory;  // of the timeline
  model::EventIndex moment = 0;
  std::optional<TimeRange> range;
  model::BlockId block = model::kNone;
  friend bool operator==(const Place&, const Place&) = default;
};

struct OpenFile {
  std::unique_ptr<Document> document;                // nullptr while it is being read
  std::vector<std::unique_ptr<LayoutView>> layouts;  // by device; nullptr while it is being computed
  std::unique_ptr<LoadJob> job;                      // uses the document: destroyed first
  Tail tail;
  Notes notes;
  bool remembered = false;        // among the recent files
  bool followed = false;          // the tail knows what the first read found
  std::unique_ptr<LoadJob> next;  // the same file, after it has grown
  [[nodiscard]] std::string name() const;
  // True while a recorder is writing it.
  [[nodiscard]] bool live() const;
};

class Session {
 public:
  // Any thread calls `wake` when Update has something to do.
  explicit Session(std::function<void()> wake) : wake_(std::move(wake)) {}

  // Starts to open it in addition to the open files, and shows it.
  void Open(const std::string& path);
  void Close(size_t file);
  // Applies results of finished threads. Call once per frame.
  void Update();
  [[nodiscard]] bool loading() const;
  // True if the timeline is about to show other categories.
  [[nodiscard]] bool counting() const { return device() != nullptr && device()->choice.busy(); }
  // Grows when a document was replaced because its file has become longer. Destroy everything made from the
  // old document before DropReplaced.
  [[nodiscard]] uint64_t generation() const { return generation_; }
  void DropReplaced() { replaced_.clear(); }

  [[nodiscard]] const std::vector<std::unique_ptr<OpenFile>>& files() const { return files_; }
  // What is shown; nullptr if there is none.
  [[nodiscard]] OpenFile* file() const {
    return place.file < files_.size() ? files_[place.file].get() : nullptr;
  }
  [[nodiscard]] const Document* document() const {
    return file() == nullptr ? nullptr : file()->document.get();
  }
  [[nodiscard]] DeviceView* device() const;
  [[nodiscard]] const LayoutView* layout() const;

  [[nodiscard]] double MomentTime() const;
  // The moment as text: "step 3, backward".
  [[nodiscard]] std::string MomentText() const;

  void ShowFile(size_t file);
  void ShowDevice(size_t device);
  // Shows another file of the same job, at the same time: `later_ns` is its time minus that of this file.
  void ShowAtSameTime(size_t file, size_t device, double later_ns);
  void SetMoment(model::EventIndex event);
  void SetMomentAt(double time_ns);
  void StepMoment(int events);
  // What the x axis counts. Steps need a run that has some; runs without times always count events.
  [[nodiscard]] TimeAxis time_axis() const { return place.window.axis(); }
  void ShowTimeAxis(TimeAxis axis);
  // Moves to the peak of the next (1) or previous (-1) training step.
  void StepTraining(int steps);
  void SelectBlock(model::BlockId block);
  // For the device's timeline; takes effect in a frame or two.
  void ShowCategories(CategoryMask categories);

  // Playback: the moment moves by itself, by `speed` seconds of the run per second. Playing at the end starts
  // again.
  void Play();
  void Pause() { playing_ = false; }
  [[nodiscard]] bool playing() const { return playing_; }
  [[nodiscard]] double speed() const { return speed_; }
  // Changes it by factors of ten, from 0.001 to 1000.
  void ChangeSpeed(int tens);
  // Call when `seconds` have passed.
  void Advance(double seconds);

  // A place as text: "peak", "oom", "end", "step:3", "step:3,peak", "1500000" (ns since the start);
  // "color:size" sets what the colors of blocks show. "view:owners", "device:cuda:1", "shown:BEGIN-END" (ns),
  // "block:12", "filter:WORDS" and "note:TEXT" set the rest, texts as in links.
  [[nodiscard]] Status GoTo(const std::string& text);
  // The text for GoTo to come back here, with the file: "run.vms@1500000".
  [[nodiscard]] std::string Locator() const;

  // Call before a jump, so that "back" returns to the current place. Moves without a call (a zoom, a drag, a
  // click) are seen by Advance; those that follow each other within kOneMove count as one.
  void Remember();
  static constexpr double kOneMove = 0.6;  // seconds
  [[nodiscard]] bool can_go_back() const { return !back_.empty(); }
  [[nodiscard]] bool can_go_forward() const { return !forward_.empty(); }
  void Back();
  void Forward();

  // All of the above as a JSON object, for scripts.
  [[nodiscard]] std::string ToJson() const;
  // What a user must know before trusting the pictures: the file is truncated or damaged, or events were
  // lost. Otherwise the message of the last command. "" = nothing.
  [[nodiscard]] std::string Warning() const;

  [[nodiscard]] const std::function<void()>& wake() const { return wake_; }

  Place place;
  bool tab_chosen = false;  // by the user: then no file opens with another tab
  // Of blocks at their addresses, and by line of code also of the timeline.
  Coloring coloring = Coloring::kCategory;
  bool coloring_chosen = false;  // by the user: then no file opens with another one
  void Color(Coloring by) {
    coloring = by;
    coloring_chosen = true;
  }
  MemoryLineChoice lines;  // over the timeline
  std::string filter;      // of the table of live blocks
  // What the table lists. kByRange: the blocks of the range if one is selected, else those alive.
  enum class TableShows : uint8_t { kByRange, kLive, kRun, kEvents };
  TableShows table_shows = TableShows::kByRange;
  [[nodiscard]] ListedBlocks BlocksListed() const;
  [[nodiscard]] ListedBlocks RangeEvents() const;  // of the selected range
  // Sets one word of the filter, "category:activation", in place of others of its column; "" takes it away.
  void FilterBy(std::string_view column, std::string_view value);
  std::string message;  // one sentence about the last failure

 private:
  void Arrive(OpenFile& file);
  static void TakeLayouts(OpenFile& file);
  // Reads the file again if it has grown, and replaces it when that is done (session_follow.cc).
  void Follow(OpenFile& file);
  void Exchange(OpenFile& file);
  void KeepPlaces(const OpenFile& file, const Document& before);
  // `step`: the step that an earlier word named; set if this word names one.
  [[nodiscard]] Status GoToOne(const std::string& word, const timeline::Step*& step);
  // What is not a moment (session_link.cc); nothing if the word is another.
  [[nodiscard]] std::optional<Status> GoToView(const std::string& word);
  static std::shared_ptr<const TimeScale> ScaleFor(const Document& document, const DeviceView& device,
                                                   TimeAxis axis);
  void Restore(std::vector<Place>& from, std::vector<Place>& to);
  // Puts a place that the user has left onto the history.
  void SeeMoves(double seconds);
  // The place was changed by the program, not by the user.
  void Settle() { seen_ = place; }

  std::function<void()> wake_;
  std::vector<std::unique_ptr<OpenFile>> files_;
  std::vector<std::unique_ptr<OpenFile>> replaced_;
  uint64_t generation_ = 0;
  std::vector<Place> back_;
  std::vector<Place> forward_;
  Place seen_;                   // in the last frame
  double still_for_ = kOneMove;  // seconds since the last move
  bool playing_ = false;
  double speed_ = 0.1;
  double played_to_ns_ = 0;  // also between events, because slow playback would otherwise stand still
};

}  // namespace vramscope::viewer
