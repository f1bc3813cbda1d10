// SPDX-License-Identifier: Apache-2.0
// The summary as data: the report's headline, and four cards with what to look at next.
//
//   Peak 11.6 GiB at step 3, backward: activations 6.9 GiB (59 %).
//   ┌ device memory ─────┐┌ what grows ┐┌ what would save most ─┐┌ trust ───────────┐
//   │ tensors, cache,    ││ nothing    ││ -3.1 GiB checkpoint   ││ 31 of 34 hooks   │
//   │ context, NCCL      ││            ││ -1.2 GiB optimizer    ││ no event lost    │
//
// Figures are the report's (profiler/report/answer.h). Each row leads to the view that explains it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/report/answer.h"

namespace vramscope::viewer {

// Where a click leads.
enum class SummaryLink : uint8_t { kNone, kPeak, kOwners, kFragmentation, kOutOfMemory, kLeaks, kWhatIf };

struct SummaryRow {
  std::string figure;  // "1.2 GiB", "-3.1 GiB", "31 of 34"; "" = a sentence
  std::string text;
  std::string more;  // for a tooltip; "" = nothing
  uint64_t bytes = 0;
  uint32_t rgb = 0;  // part of the card's bar; 0 = none
  bool warning = false;
};

struct SummaryCard {
  const char* key = "";  // for scripts: "memory"
  std::string title;
  SummaryLink link = SummaryLink::kNone;
  uint64_t whole = 0;  // bytes of the whole bar; 0 = no bar
  std::vector<SummaryRow> rows;
};

struct RunSummary {
  std::string headline;
  std::string about;    // device and process, reserved memory, origin of the peak
  std::string failure;  // how the run failed; "" = it did not
  std::string command;
  std::vector<SummaryCard> cards;
};

// `savings`: nullptr while computed, or for a `live` file. Texts are sanitized (text/harmless.h).
[[nodiscard]] RunSummary MakeSummary(const model::Run& run, const report::Answer& answer,
                                     const std::optional<report::Savings>* savings, bool live = false);

// Cards of the usual height until there is an answer, so that nothing below moves.
[[nodiscard]] const RunSummary& ExpectedSummary();

}  // namespace vramscope::viewer
