// SPDX-License-Identifier: Apache-2.0
// A table of the blocks that are alive at a moment, in a range of events, or in the whole run. Users can
// filter and sort its rows.
//
// A range or the whole run is searched for a few milliseconds per frame. Only the largest blocks are listed,
// but the totals include all blocks.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/classify/origin.h"
#include "profiler/report/owners.h"
#include "viewer/model/document.h"

namespace vramscope::viewer {

struct LiveRow {
  model::BlockId block = 0;
  uint64_t bytes = 0;
  uint64_t address = 0;
  uint64_t born_ns = 0;
  uint32_t step = 0;  // step that allocated the block; 0 = outside all steps
  classify::Category category{};
  std::string_view name;  // "" = unnamed
  std::string_view module;
  std::string_view op;
  std::string_view line;  // line of code: the most informative frame
  model::EventIndex freed = model::kNever;
  bool guessed = false;           // true if the category is guessed, because the file names no tensors
  bool before_recording = false;  // true if the block is older than the recording
};

// Which blocks are listed: alive at the moment, alive at any time between two events, or all blocks of the
// run.
struct ListedBlocks {
  enum class Kind : uint8_t { kLive, kRange, kRun } kind = Kind::kLive;
  model::EventIndex first = 0;  // for kRange: first and last event
  model::EventIndex last = 0;
  friend bool operator==(const ListedBlocks&, const ListedBlocks&) = default;
};

// A filter on rows. A row must match all words, for example "category:activation size>1MiB module:layers.3*
// relu". A word without a column is searched in the category, name, module, operator and line. '*' matches
// any characters.
class RowFilter {
 public:
  // Reads the filter. An error contains the wrong word and a valid form.
  [[nodiscard]] static Result<RowFilter> Parse(std::string_view text);
  [[nodiscard]] bool Matches(const LiveRow& row) const;

 private:
  enum class Column : uint8_t { kAny, kCategory, kName, kModule, kWithin, kOp, kLine, kStep, kBytes };
  struct Term {
    Column column = Column::kAny;
    char comparison = ':';  // or '<', '>'
    std::string text;       // lower case
    uint64_t number = 0;
  };
  std::vector<Term> terms_;
};

enum class LiveColumn : uint8_t { kNumber, kBytes, kCategory, kName, kModule, kOp, kLine, kBorn, kAddress };

class LiveTable {
 public:
  // Call once per frame. Updates the rows if an argument has changed, and continues an unfinished search. An
  // invalid filter is reported by filter_error().
  void Update(const Document& document, const DeviceView& device, model::EventIndex moment,
              const std::string& filter, const ListedBlocks& listed = {});
  // True while a search is unfinished. The next Update() continues it.
  [[nodiscard]] bool busy() const { return searched_ < to_search_; }
  [[nodiscard]] double share() const {
    return to_search_ == 0 ? 1 : static_cast<double>(searched_) / static_cast<double>(to_search_);
  }
  void Sort(LiveColumn column, bool descending);

  [[nodiscard]] const std::vector<LiveRow>& rows() const { return rows_; }
  [[nodiscard]] const std::vector<LiveRow>& all_live() const { return all_; }  // without the filter
  [[nodiscard]] uint64_t bytes() const { return bytes_; }     // of all matching blocks, listed or not
  [[nodiscard]] size_t matched() const { return matched_; }   // number of blocks that match
  [[nodiscard]] size_t live_count() const { return count_; }  // including blocks that the filter hides
  static constexpr size_t kMostFound = 10000;                 // highest number of rows that a search lists
  [[nodiscard]] const std::string& filter_error() const { return filter_error_; }
  // Returns the shown rows as CSV, for a spreadsheet.
  [[nodiscard]] std::string ToCsv() const;

 private:
  void Filter();
  void SortRows();
  [[nodiscard]] LiveRow RowOf(model::BlockId id, model::EventIndex at);
  // Sets the members of the row that depend on the moment.
  void SetCategory(LiveRow& row, model::EventIndex at) const;
  // `before`: rows of the previous list, for reuse.
  void ListLive(const std::vector<LiveRow>& before);
  void BeginSearch();
  void Search(double seconds);
  void KeepLargest();

  const Document* document_ = nullptr;
  const DeviceView* device_ = nullptr;
  model::EventIndex moment_ = model::kNever;
  std::string filter_;
  std::string filter_error_;
  LiveColumn column_ = LiveColumn::kBytes;
  bool descending_ = true;
  std::unique_ptr<classify::Origins> origins_;
  std::unique_ptr<report::FramesToShow> frames_;
  bool in_the_middle_ = false;  // true if blocks already existed when the recording began
  std::vector<LiveRow> all_;
  std::vector<LiveRow> rows_;
  uint64_t bytes_ = 0;
  size_t matched_ = 0;
  size_t count_ = 0;
  ListedBlocks listed_;
  std::optional<RowFilter> search_filter_;
  std::vector<LiveRow> found_;
  size_t searched_ = 0;  // number of the device's allocations and frees that were searched
  size_t to_search_ = 0;
};

}  // namespace vramscope::viewer
