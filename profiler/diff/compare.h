// SPDX-License-Identifier: Apache-2.0
// The differences between two runs: at their peaks by category, module, operator and line of code, and step
// by step. Steps are matched by number.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/diff/facts.h"
#include "profiler/model/framework.h"
#include "profiler/report/request.h"
#include "trace_format/result.h"

namespace vramscope::diff {

struct Side {
  std::string path;
  report::Answer answer;  // with all owners (Request::top = 0); moments[0] has the peak's blocks
  Facts facts;
};

// `path`: file of the run. `request` selects device and process. Fails as BuildAnswer does. A run without
// allocations has an answer without a device.
[[nodiscard]] Result<Side> SideOf(const std::string& path, const classify::Analysis& analysis,
                                  report::Request request);

// Fails if the run has no allocations.
[[nodiscard]] Status IsComparable(const Side& side);

// Bytes on both sides for one name.
struct Row {
  std::string name;
  uint64_t before = 0;
  uint64_t after = 0;

  [[nodiscard]] int64_t change() const { return static_cast<int64_t>(after) - static_cast<int64_t>(before); }
};

struct OwnerRow : Row {
  report::Owner::Kind kind{};
  uint32_t members_before = 0;  // modules that match a pattern
  uint32_t members_after = 0;
};

struct StepRow {
  uint32_t step = 0;
  uint64_t before = 0;  // peak of the step, allocated bytes
  uint64_t after = 0;
};

// A change in the program, and its effect.
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
[[nodiscard]] const char* CauseKey(Cause::Kind kind);

struct Diff {
  Row peak;                      // allocated bytes
  std::vector<Row> categories;   // largest change first
  std::vector<OwnerRow> owners;  // by kind, largest change first; only changed rows
  std::vector<StepRow> steps;    // steps that both runs have finished
  uint32_t steps_before = 0;
  uint32_t steps_after = 0;
  std::vector<Cause> causes;  // largest effect first
  // Facts that cannot be compared, because one side did not record them or uses another allocator.
  std::vector<std::string> notes;
  const model::Framework* framework = &model::PyTorch();  // of `after`; never freed
};

[[nodiscard]] Diff Compare(const Side& before, const Side& after);

// Defined in causes.cc.
[[nodiscard]] std::vector<Cause> FindCauses(const Side& before, const Side& after);

// One JSON document (docs/json.md).
[[nodiscard]] std::string ToJson(const Side& before, const Side& after, const Diff& diff);

}  // namespace vramscope::diff
