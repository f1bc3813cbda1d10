// SPDX-License-Identifier: Apache-2.0
// The evidence for the rules of `vramscope check`, for each device that matches the request.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "profiler/check/judge.h"
#include "profiler/cli/frame/arguments.h"
#include "profiler/snapshot/run_file.h"

namespace vramscope::cli {

class CheckEvidence {
 public:
  // `file` and `analysis` must outlive this object. `analysis` was read from `file`.
  CheckEvidence(const snapshot::RunFile& file, const classify::Analysis& analysis, report::Request request)
      : file_(file), analysis_(analysis), request_(std::move(request)) {}

  // Fails if the request names a device that does not exist, or if the baseline cannot be read.
  Status Read(const std::vector<check::Rule>& rules, const Arguments& arguments);

  // One per device. The device that a report would choose comes first. A run without allocations has one
  // entry without a device.
  [[nodiscard]] std::vector<check::Evidence> all() const;
  [[nodiscard]] std::vector<report::Answer> TakeAnswers();

 private:
  struct OfDevice {
    diff::Side side;
    std::optional<Result<fragmentation::Answer>> fragmentation;
    std::optional<Result<leaks::Answer>> leaks;
    const diff::Side* baseline = nullptr;
    std::optional<diff::Diff> diff;
  };
  Status ReadBaseline(const Arguments& arguments);

  const snapshot::RunFile& file_;
  const classify::Analysis& analysis_;
  report::Request request_;
  std::vector<std::unique_ptr<OfDevice>> devices_;
  std::vector<diff::Side> baselines_;
};

}  // namespace vramscope::cli
