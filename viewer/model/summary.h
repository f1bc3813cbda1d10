// SPDX-License-Identifier: Apache-2.0
// The viewer's summary page as data: the report's headline, and four cards that show what to look at next.
//
//   Peak 11.6 GiB at step 3, backward: activations 6.9 GiB (59 %).
//   ┌ device memory ─────┐┌ what grows ┐┌ what would save most ─┐┌ trust ───────────┐
//   │ tensors, cache,    ││ nothing    ││ -3.1 GiB checkpoint   ││ 31 of 34 hooks   │
//   │ context, NCCL      ││            ││ -1.2 GiB optimizer    ││ no event lost    │
//
// The figures are those of the report (profiler/report/answer.h). A click on a row opens the view that
// explains it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/report/answer.h"

namespace vramscope::viewer {

// The view that a click opens.
enum class SummaryLink : uint8_t { kNone, kPeak, kOwners, kFragmentation, kOutOfMemory, kLeaks, kWhatIf };

struct SummaryRow {
  std::string figure;  // such as "1.2 GiB" or "31 of 34"; "" = the row is a sentence
  std::string text;
  std::string more;  // text of the tooltip; "" = no tooltip
  uint64_t bytes = 0;
  uint32_t rgb = 0;  // color of the row's part in the card's bar; 0 = no part
  bool warning = false;
};

struct SummaryCard {
  const char* key = "";  // name for scripts, such as "memory"
  std::string title;
  SummaryLink link = SummaryLink::kNone;
  uint64_t whole = 0;  // bytes of the whole bar; 0 = no bar
  std::vector<SummaryRow> rows;
};

struct RunSummary {
  std::string headline;
  std::string about;    // device and process, reserved memory, origin of the peak
  std::string failure;  // how the run failed; "" = the run did not fail
  std::string command;
  std::vector<SummaryCard> cards;
};

// `savings` is nullptr while the savings are being computed, and for a `live` file, which is still growing.
// All texts are sanitized (text/harmless.h).
[[nodiscard]] RunSummary MakeSummary(const model::Run& run, const report::Answer& answer,
                                     const std::optional<report::Savings>* savings, bool live = false);

// Returns placeholder cards with the usual height. The placeholders are shown until the answer is ready, so
// that nothing below them moves.
[[nodiscard]] const RunSummary& ExpectedSummary();

}  // namespace vramscope::viewer
