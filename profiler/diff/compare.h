// SPDX-License-Identifier: Apache-2.0
// Compares two runs. The result contains the differences at the peaks (by category, module, operator and line
// of code), and the peak of each step. Steps with the same number are compared.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/diff/facts.h"
#include "profiler/model/framework.h"
#include "profiler/report/request.h"
#include "trace_format/result.h"

namespace vramscope::diff {

// One of the two runs.
struct Side {
  std::string path;
  report::Answer answer;  // with all owners (Request::top = 0); moments[0] has the blocks at the peak
  Facts facts;
};

// Prepares one run for the comparison. `path`: file of the run. `request` selects device and process. Returns
// the same errors as report::BuildAnswer. If the run has no allocations, `answer` has no device.
[[nodiscard]] Result<Side> SideOf(const std::string& path, const classify::Analysis& analysis,
                                  report::Request request);

// Returns an error if the run has no allocations.
[[nodiscard]] Status IsComparable(const Side& side);

// Bytes in both runs for one name, such as a category.
struct Row {
  std::string name;
  uint64_t before = 0;
  uint64_t after = 0;

  [[nodiscard]] int64_t change() const { return static_cast<int64_t>(after) - static_cast<int64_t>(before); }
};

struct OwnerRow : Row {
  report::Owner::Kind kind{};
  uint32_t members_before = 0;  // number of modules, if `name` is a pattern for several modules
  uint32_t members_after = 0;
};

struct StepRow {
  uint32_t step = 0;
  uint64_t before = 0;  // peak of allocated bytes in the step
  uint64_t after = 0;
};

// A difference between the two programs or their settings that explains a part of the peak's change.
struct Cause {
  enum class Kind : uint8_t {
    kOptimizer,
    kModel,
    kParameterType,
    kBatch,
    kPrecision,
    kCheckpointing,
    kOffload,
    kKept,
    kSettings,
    kFramework,  // another framework or release
    kTried
  } kind{};
  std::string what;   // "1 more module: blocks.2 (12 parameters)"
  int64_t bytes = 0;  // the part of the peak's change that this cause explains; 0 = unknown
};
// Returns the name of `kind` in JSON.
[[nodiscard]] const char* CauseKey(Cause::Kind kind);

struct Diff {
  Row peak;                      // allocated bytes
  std::vector<Row> categories;   // largest change first
  std::vector<OwnerRow> owners;  // only changed rows; sorted by kind, then largest change first
  std::vector<StepRow> steps;    // steps that both runs have finished
  uint32_t steps_before = 0;     // number of steps
  uint32_t steps_after = 0;
  std::vector<Cause> causes;  // largest effect first
  // Facts that cannot be compared, because one side did not record them or uses another allocator.
  std::vector<std::string> notes;
  const model::Framework* framework = &model::PyTorch();  // of `after`; never freed
};

[[nodiscard]] Diff Compare(const Side& before, const Side& after);

// Defined in causes.cc.
[[nodiscard]] std::vector<Cause> FindCauses(const Side& before, const Side& after);

// Returns the answer of `vramscope diff --json` (docs/json.md).
[[nodiscard]] std::string ToJson(const Side& before, const Side& after, const Diff& diff);

}  // namespace vramscope::diff
