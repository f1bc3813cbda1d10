// SPDX-License-Identifier: Apache-2.0
// The state of the viewer apart from its appearance: open files, visible time, the moment, the selection.
//
// Panels, tests and scripts call its functions. Single-threaded.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "viewer/model/coloring.h"
#include "viewer/model/live_table.h"
#include "viewer/model/open_file.h"
#include "viewer/model/place.h"

namespace vramscope::viewer {

class Session {
 public:
  // `wake` is called, on any thread, when Update has something to do.
  explicit Session(std::function<void()> wake) : wake_(std::move(wake)) {}

  // Opens one more file, and shows it.
  void Open(const std::string& path);
  void Close(size_t file);
  // Applies results of threads. Call once per frame.
  void Update();
  [[nodiscard]] bool loading() const;
  // True if the timeline will soon show other categories.
  [[nodiscard]] bool counting() const { return device() != nullptr && device()->choice.busy(); }
  // Grows when a document was replaced by that of a longer file. Destroy everything made from the old one
  // before DropReplaced.
  [[nodiscard]] uint64_t generation() const { return generation_; }
  void DropReplaced() { replaced_.clear(); }

  [[nodiscard]] const std::vector<std::unique_ptr<OpenFile>>& files() const { return files_; }
  // The shown file, document, device and layout; nullptr if there is none.
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
  // Shows another file of the job at the same time. `later_ns`: its time minus the shown file's.
  void ShowAtSameTime(size_t file, size_t device, double later_ns);
  void SetMoment(model::EventIndex event);
  void SetMomentAt(double time_ns);
  void StepMoment(int events);
  // The unit of the x axis. Steps need a run with steps. Runs without times count events.
  [[nodiscard]] TimeAxis time_axis() const { return place.window.axis(); }
  void ShowTimeAxis(TimeAxis axis);
  // Moves to the peak of the next (1) or previous (-1) training step.
  void StepTraining(int steps);
  void SelectBlock(model::BlockId block);
  // Changes the categories in the device's timeline, in a frame or two.
  void ShowCategories(CategoryMask categories);

  // Playback: the moment moves by `speed` seconds of the run per second. At the end it starts again.
  void Play();
  void Pause() { playing_ = false; }
  [[nodiscard]] bool playing() const { return playing_; }
  [[nodiscard]] double speed() const { return speed_; }
  // By factors of ten, from 0.001 to 1000.
  void ChangeSpeed(int tens);
  // Call when `seconds` have passed.
  void Advance(double seconds);

  // A place as text: "peak", "oom", "end", "step:3", "step:3,peak", "1500000" (ns since the start),
  // "color:size". Also "view:owners", "device:cuda:1", "shown:BEGIN-END" (ns), "block:12", "filter:WORDS" and
  // "note:TEXT", as in links.
  [[nodiscard]] Status GoTo(const std::string& text);
  // Call before a jump, for "back". Advance notices other moves.
  void Remember() { history_.Remember(place); }
  [[nodiscard]] bool can_go_back() const { return history_.can_go_back(); }
  [[nodiscard]] bool can_go_forward() const { return history_.can_go_forward(); }
  void Back() { history_.Back(place); }
  void Forward() { history_.Forward(place); }

  // The state as a JSON object, for scripts.
  [[nodiscard]] std::string ToJson() const;
  // Reasons to distrust the pictures: a truncated or damaged file, lost events. Otherwise the last command's
  // message. "" = nothing.
  [[nodiscard]] std::string Warning() const;

  [[nodiscard]] const std::function<void()>& wake() const { return wake_; }

  Place place;
  bool tab_chosen = false;  // by the user: opening a file does not change it
  // The coloring of blocks. kStack (by line of code) also applies to the timeline.
  Coloring coloring = Coloring::kCategory;
  bool coloring_chosen = false;  // by the user: opening a file does not change it
  void Color(Coloring by) {
    coloring = by;
    coloring_chosen = true;
  }
  MemoryLineChoice lines;  // over the timeline
  std::string filter;      // of the table of live blocks
  // The content of the table. kByRange: blocks of the selected range, else live ones.
  enum class TableShows : uint8_t { kByRange, kLive, kRun, kEvents };
  TableShows table_shows = TableShows::kByRange;
  [[nodiscard]] ListedBlocks BlocksListed() const;
  [[nodiscard]] ListedBlocks RangeEvents() const;  // of the selected range
  // Adds a word to the filter, such as "category:activation", and removes others of its column. "" only
  // removes.
  void FilterBy(std::string_view column, std::string_view value);
  std::string message;  // one sentence about the last failure

 private:
  void Arrive(OpenFile& file);
  void KeepPlaces(const OpenFile& file, const Document& before);
  // `step`: named by an earlier word, or set by this one.
  [[nodiscard]] Status GoToOne(const std::string& word, const timeline::Step*& step);

  std::function<void()> wake_;
  std::vector<std::unique_ptr<OpenFile>> files_;
  std::vector<std::unique_ptr<OpenFile>> replaced_;
  uint64_t generation_ = 0;
  PlaceHistory history_;
  bool playing_ = false;
  double speed_ = 0.1;
  double played_to_ns_ = 0;  // also between events: slow playback must move
};

}  // namespace vramscope::viewer
