// SPDX-License-Identifier: Apache-2.0
// What the viewer shows at this moment, without how it looks: the open files, the stretch of time, the moment
// that everything follows, the selection, and the way back.
//
// Panels read it and call its verbs; tests and scripts do the same. One thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "viewer/model/colouring.h"
#include "viewer/model/document.h"
#include "viewer/model/load_job.h"
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
  kLeaks
};
inline constexpr size_t kTabCount = 9;
[[nodiscard]] const char* TabKey(Tab tab);  // "timeline": of --view and scripts
[[nodiscard]] std::optional<Tab> TabFromKey(std::string_view key);

struct TimeRange {
  double begin_ns = 0;
  double end_ns = 0;
  friend bool operator==(const TimeRange&, const TimeRange&) = default;
};

// What "back" returns to.
struct Place {
  size_t file = 0;
  size_t device = 0;
  Tab tab = Tab::kTimeline;
  TimeView window;
  model::EventIndex moment = 0;
  std::optional<TimeRange> range;
  model::BlockId block = model::kNone;
  friend bool operator==(const Place&, const Place&) = default;
};

struct OpenFile {
  std::unique_ptr<Document> document;                // none while it is read
  std::vector<std::unique_ptr<LayoutView>> layouts;  // by device; none while it is made
  std::unique_ptr<LoadJob> job;                      // above the document in time: destroyed first
  Tail tail;
  bool remembered = false;        // among the recent files
  bool followed = false;          // the tail knows what was read first
  std::unique_ptr<LoadJob> next;  // the same file, which has grown
  [[nodiscard]] std::string name() const;
  // It is being written at this moment.
  [[nodiscard]] bool live() const;
};

class Session {
 public:
  // `wake` is called from any thread when Update has something to do.
  explicit Session(std::function<void()> wake) : wake_(std::move(wake)) {}

  // Begins to open it beside what is open, and shows it.
  void Open(const std::string& path);
  void Close(size_t file);
  // Takes over what the threads have finished. Once a frame.
  void Update();
  [[nodiscard]] bool loading() const;
  // Whether the timeline is about to show other categories.
  [[nodiscard]] bool counting() const { return device() != nullptr && device()->choice.busy(); }
  // Grows when a document was exchanged for one of the same file that has become longer. What was made from
  // the old one must go before DropReplaced.
  [[nodiscard]] uint64_t generation() const { return generation_; }
  void DropReplaced() { replaced_.clear(); }

  [[nodiscard]] const std::vector<std::unique_ptr<OpenFile>>& files() const { return files_; }
  // Of what is shown; nullptr while there is none.
  [[nodiscard]] OpenFile* file() const {
    return place.file < files_.size() ? files_[place.file].get() : nullptr;
  }
  [[nodiscard]] const Document* document() const {
    return file() == nullptr ? nullptr : file()->document.get();
  }
  [[nodiscard]] DeviceView* device() const;
  [[nodiscard]] const LayoutView* layout() const;

  [[nodiscard]] double MomentTime() const;
  // The moment in words: "step 3, backward".
  [[nodiscard]] std::string MomentText() const;

  void ShowFile(size_t file);
  void ShowDevice(size_t device);
  void SetMoment(model::EventIndex event);
  void SetMomentAt(double time_ns);
  void StepMoment(int events);
  // To the peak of the next (1) or previous (-1) training step.
  void StepTraining(int steps);
  void SelectBlock(model::BlockId block);
  // Of the device's timeline; in a frame or two.
  void ShowCategories(CategoryMask categories);

  // Playback: the moment goes on by itself, `speed` seconds of the run in a second. Playing at the end begins
  // anew.
  void Play();
  void Pause() { playing_ = false; }
  [[nodiscard]] bool playing() const { return playing_; }
  [[nodiscard]] double speed() const { return speed_; }
  // By factors of ten, from 0.001 to 1000.
  void ChangeSpeed(int tens);
  // When `seconds` have gone by.
  void Advance(double seconds);

  // A place as a text: "peak", "oom", "end", "step:3", "step:3,peak", "1500000" (ns since the start);
  // "colour:size" says by what blocks are coloured.
  [[nodiscard]] Status GoTo(const std::string& text);
  // What GoTo takes to come here again, with the file: "run.vms@1500000".
  [[nodiscard]] std::string Locator() const;

  // Before a jump: the place as it is now can be come back to.
  void Remember();
  [[nodiscard]] bool can_go_back() const { return !back_.empty(); }
  [[nodiscard]] bool can_go_forward() const { return !forward_.empty(); }
  void Back();
  void Forward();

  // All of the above as a JSON object, for scripts.
  [[nodiscard]] std::string ToJson() const;
  // What a reader must know before trusting the pictures: that the file is cut or damaged, that events were
  // lost; else what the last order said. "" = nothing.
  [[nodiscard]] std::string Warning() const;

  [[nodiscard]] const std::function<void()>& wake() const { return wake_; }

  Place place;
  bool tab_chosen = false;                     // by a person: then no file opens with another one
  Colouring colouring = Colouring::kCategory;  // of blocks at their addresses
  std::string filter;                          // of the table of live blocks
  std::string message;                         // one sentence about the last thing that did not work

 private:
  void Arrive(OpenFile& file);
  static void TakeLayouts(OpenFile& file);
  // Reads the file again when it has grown, and exchanges it when that is done (session_follow.cc).
  void Follow(OpenFile& file);
  void Exchange(OpenFile& file);
  void KeepPlaces(const OpenFile& file, const Document& before);
  // `step`: the one that a word before has named; set by this one where it names one.
  [[nodiscard]] Status GoToOne(const std::string& word, const timeline::Step*& step);
  // Where a program imports for half a minute before it allocates, that half minute is left out at first.
  void ShowBusyPart();
  void Restore(std::vector<Place>& from, std::vector<Place>& to);

  std::function<void()> wake_;
  std::vector<std::unique_ptr<OpenFile>> files_;
  std::vector<std::unique_ptr<OpenFile>> replaced_;
  uint64_t generation_ = 0;
  std::vector<Place> back_;
  std::vector<Place> forward_;
  bool playing_ = false;
  double speed_ = 0.1;
  double played_to_ns_ = 0;  // between events too, or slow playback would stand still
};

}  // namespace vramscope::viewer
