// SPDX-License-Identifier: Apache-2.0
// Computes what the rules of `vramscope check` judge (fragmentation, leaks, the difference from a baseline),
// for each device that matches the request.
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
  // `analysis` must be the analysis of `file`. Both must outlive this object.
  CheckEvidence(const snapshot::RunFile& file, const classify::Analysis& analysis, report::Request request)
      : file_(file), analysis_(analysis), request_(std::move(request)) {}

  // Computes what `rules` need. Returns an error if the request names a device that does not exist, or if the
  // baseline cannot be read.
  Status Read(const std::vector<check::Rule>& rules, const Arguments& arguments);

  // Returns one entry for each device. The first entry is the device that `vramscope report` would choose. If
  // the run has no allocations, there is one entry without a device.
  [[nodiscard]] std::vector<check::Evidence> all() const;
  // Moves out the report of each device, in the order of all(). Call last.
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
