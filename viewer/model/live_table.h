// SPDX-License-Identifier: Apache-2.0
// The blocks alive at a moment, as rows to filter and sort.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profiler/classify/origin.h"
#include "viewer/model/document.h"

namespace vramscope::viewer {

struct LiveRow {
  model::BlockId block = 0;
  uint64_t bytes = 0;
  uint64_t address = 0;
  uint64_t born_ns = 0;
  uint32_t step = 0;  // of its birth; 0 = none
  classify::Category category{};
  std::string_view name;  // "" = unnamed
  std::string_view module;
  std::string_view op;
};

// A small language: a row must match all words. "category:activation size>1MiB module:layers.3* relu": a word
// without a column is searched in all texts. '*' matches anything.
class RowFilter {
 public:
  // An error names the word that is not understood, and what would be.
  [[nodiscard]] static Result<RowFilter> Parse(std::string_view text);
  [[nodiscard]] bool Matches(const LiveRow& row) const;

 private:
  enum class Column : uint8_t { kAny, kCategory, kName, kModule, kOp, kStep, kBytes };
  struct Term {
    Column column = Column::kAny;
    char comparison = ':';  // or '<', '>'
    std::string text;       // in lower case
    uint64_t number = 0;
  };
  std::vector<Term> terms_;
};

enum class LiveColumn : uint8_t { kNumber, kBytes, kCategory, kName, kModule, kOp, kBorn, kAddress };

class LiveTable {
 public:
  // The rows for that state; recomputed only if something changed. Keeps the filter's error, if any.
  void Update(const Document& document, const DeviceView& device, model::EventIndex moment,
              const std::string& filter);
  void Sort(LiveColumn column, bool descending);

  [[nodiscard]] const std::vector<LiveRow>& rows() const { return rows_; }
  [[nodiscard]] uint64_t bytes() const { return bytes_; }          // of the rows
  [[nodiscard]] size_t live_count() const { return all_.size(); }  // including those that the filter hides
  [[nodiscard]] const std::string& filter_error() const { return filter_error_; }
  // The table as shown, for a spreadsheet.
  [[nodiscard]] std::string ToCsv() const;

 private:
  void Filter();
  void SortRows();

  const Document* document_ = nullptr;
  const DeviceView* device_ = nullptr;
  model::EventIndex moment_ = model::kNever;
  std::string filter_;
  std::string filter_error_;
  LiveColumn column_ = LiveColumn::kBytes;
  bool descending_ = true;
  std::unique_ptr<classify::Origins> origins_;
  std::vector<LiveRow> all_;
  std::vector<LiveRow> rows_;
  uint64_t bytes_ = 0;
};

}  // namespace vramscope::viewer
