// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/record/rank_summary_file.h"

#include <filesystem>
#include <system_error>

#include "profiler/cli/frame/verb.h"
#include "profiler/collector/output/new_file.h"
#include "profiler/fleet/read.h"
#include "profiler/fleet/summary_file.h"

namespace vramscope::cli {
namespace {

// Reading more events would keep the user waiting at the end of a recording. fleet reads such a trace itself.
constexpr uint64_t kMostEvents = 20'000'000;

Status Write(const std::string& path) {
  const std::string text = VRAMSCOPE_TRY(fleet::SummaryFor(path));
  if (text.empty()) return {};
  collector::NewFile file =
      VRAMSCOPE_TRY(collector::NewFile::Create(path + std::string(fleet::kSummarySuffix), {path}));
  VRAMSCOPE_TRY(file.Write(text));
  return file.Commit();
}

}  // namespace

void WriteRankSummary(const collector::RecordOutcome& outcome) {
  std::error_code failed;
  if (outcome.events == 0 || outcome.events > kMostEvents ||
      !std::filesystem::is_regular_file(outcome.path, failed))
    return;
  if (const Status written = Write(outcome.path); !written.ok()) Say(written.error().sentence);
}

}  // namespace vramscope::cli
