// SPDX-License-Identifier: Apache-2.0
// What `vramscope check` holds its rules against: for each device of each process that the request means, the
// answers of the other verbs that the rules need.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "profiler/check/judge.h"
#include "profiler/cli/frame/arguments.h"

namespace vramscope::cli {

class CheckEvidence {
 public:
  // `analysis` must outlive it.
  CheckEvidence(std::string path, const classify::Analysis& analysis, report::Request request)
      : path_(std::move(path)), analysis_(analysis), request_(std::move(request)) {}

  // Fails when the request names a device that does not exist, and when the baseline cannot be read.
  Status Read(const std::vector<check::Rule>& rules, const Arguments& arguments);

  // One for each device, the one that a report would speak of first. A run without any allocation has one
  // without device.
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

  std::string path_;
  const classify::Analysis& analysis_;
  report::Request request_;
  std::vector<std::unique_ptr<OfDevice>> devices_;
  std::vector<diff::Side> baselines_;
};

}  // namespace vramscope::cli
