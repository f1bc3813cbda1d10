// SPDX-License-Identifier: Apache-2.0
// The state of the viewer without its appearance: open files, visible time, the moment, the selection.
//
// Panels, tests and scripts call the functions of Session, all on one thread. The "moment" is the event whose
// state the views show.
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
  // Another thread calls `wake` when Update has something to do.
  explicit Session(std::function<void()> wake) : wake_(std::move(wake)) {}

  // Opens another file and shows it.
  void Open(const std::string& path);
  void Close(size_t file);
  // Takes the results of other threads. Call once per frame.
  void Update();
  [[nodiscard]] bool loading() const;
  // True if the timeline will soon show other categories.
  [[nodiscard]] bool counting() const { return device() != nullptr && device()->choice.busy(); }
  // Increases when a document was replaced because its file has grown. Everything that was made from the old
  // document must be destroyed before the call of DropReplaced, which destroys the old document.
  [[nodiscard]] uint64_t generation() const { return generation_; }
  void DropReplaced() { replaced_.clear(); }

  [[nodiscard]] const std::vector<std::unique_ptr<OpenFile>>& files() const { return files_; }
  // file(), document(), device() and layout() return what is currently shown; nullptr if there is none.
  [[nodiscard]] OpenFile* file() const {
    return place.file < files_.size() ? files_[place.file].get() : nullptr;
  }
  [[nodiscard]] const Document* document() const {
    return file() == nullptr ? nullptr : file()->document.get();
  }
  [[nodiscard]] DeviceView* device() const;
  [[nodiscard]] const LayoutView* layout() const;

  [[nodiscard]] double MomentTime() const;
  // Describes the moment: "step 3, backward".
  [[nodiscard]] std::string MomentText() const;

  void ShowFile(size_t file);
  void ShowDevice(size_t device);
  // Shows another file of the job at the same real time. `later_ns`: time in `file` minus time in the shown
  // file at the same moment.
  void ShowAtSameTime(size_t file, size_t device, double later_ns);
  void SetMoment(model::EventIndex event);
  void SetMomentAt(double time_ns);
  void StepMoment(int events);
  // The unit of the x axis (time_scale.h). Training steps are possible only if the run has steps. For a run
  // without times, the unit "time" counts events.
  [[nodiscard]] TimeAxis time_axis() const { return place.window.axis(); }
  void ShowTimeAxis(TimeAxis axis);
  // Moves to the peak of the next (1) or previous (-1) training step.
  void StepTraining(int steps);
  void SelectBlock(model::BlockId block);
  // Changes which categories the device's timeline shows. The change is visible after one or two frames.
  void ShowCategories(CategoryMask categories);

  // Playback: each second, the moment advances by speed() seconds of the run. Playback stops at the end of
  // the run. If the moment is at the end of the run, Play starts at the begin of the visible time.
  void Play();
  void Pause() { playing_ = false; }
  [[nodiscard]] bool playing() const { return playing_; }
  [[nodiscard]] double speed() const { return speed_; }
  // Multiplies the speed by 10 to the power of `tens`. The speed stays between 0.001 and 1000.
  void ChangeSpeed(int tens);
  // Advances playback, and finds moves of the user for "back". Call once per frame. `seconds`: time since the
  // last call.
  void Advance(double seconds);

  // Moves to a place that is given as text: "peak", "oom", "end", "step:3", "step:3,peak", "1500000" (ns
  // since the start), "color:size". Parts of links are also valid: "view:owners", "device:cuda:1",
  // "shown:BEGIN-END" (ns), "block:12", "filter:WORDS" and "note:TEXT".
  [[nodiscard]] Status GoTo(const std::string& text);
  // Adds the current place to the history for "back". Call before a jump. Advance finds other moves.
  void Remember() { history_.Remember(place); }
  [[nodiscard]] bool can_go_back() const { return history_.can_go_back(); }
  [[nodiscard]] bool can_go_forward() const { return history_.can_go_forward(); }
  void Back() { history_.Back(place); }
  void Forward() { history_.Forward(place); }

  // Returns the state as a JSON object, for scripts.
  [[nodiscard]] std::string ToJson() const;
  // Returns the sentence for the warning line: a damaged or truncated file, otherwise the message of the last
  // command, otherwise lost events. "" if there is nothing to warn of.
  [[nodiscard]] std::string Warning() const;

  [[nodiscard]] const std::function<void()>& wake() const { return wake_; }

  Place place;
  bool tab_chosen = false;  // true if the user chose the tab; opening a file then does not change it
  // How blocks are colored. kStack (by line of code) also colors the timeline.
  Coloring coloring = Coloring::kCategory;
  bool coloring_chosen = false;  // true if the user chose it; opening a file then does not change it
  void Color(Coloring by) {
    coloring = by;
    coloring_chosen = true;
  }
  MemoryLineChoice lines;  // lines that are drawn over the timeline
  std::string filter;      // filter of the table of blocks
  // The content of the table. kByRange: the blocks of the selected range; without a selected range, the live
  // blocks.
  enum class TableShows : uint8_t { kByRange, kLive, kRun, kEvents };
  TableShows table_shows = TableShows::kByRange;
  [[nodiscard]] ListedBlocks BlocksListed() const;
  [[nodiscard]] ListedBlocks RangeEvents() const;  // first and last event of the selected range
  // Replaces the words of one column in the filter by a word such as "category:activation". If `value` is "",
  // only removes the words of the column.
  void FilterBy(std::string_view column, std::string_view value);
  std::string message;  // one sentence about the last failure

 private:
  void Arrive(OpenFile& file);
  void KeepPlaces(const OpenFile& file, const Document& before);
  // Moves to the place of one word. `step`: the step of an earlier word such as "step:3"; set if `word` is
  // such a word.
  [[nodiscard]] Status GoToOne(const std::string& word, const timeline::Step*& step);

  std::function<void()> wake_;
  std::vector<std::unique_ptr<OpenFile>> files_;
  std::vector<std::unique_ptr<OpenFile>> replaced_;
  uint64_t generation_ = 0;
  PlaceHistory history_;
  bool playing_ = false;
  double speed_ = 0.1;
  double played_to_ns_ = 0;  // time of playback, which can be between two events
};

}  // namespace vramscope::viewer
