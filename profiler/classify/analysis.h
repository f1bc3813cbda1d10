// SPDX-License-Identifier: Apache-2.0
// The facts that are derived once from a run: steps and phases of each process, category and name of each
// block.
#pragma once

#include <vector>

#include "profiler/classify/categories.h"
#include "profiler/classify/names.h"
#include "profiler/model/run.h"
#include "profiler/timeline/training.h"

namespace vramscope::classify {

class Analysis {
 public:
  // `run` must outlive the analysis.
  explicit Analysis(const model::Run& run);

  [[nodiscard]] const model::Run& run() const { return run_; }
  [[nodiscard]] const std::vector<timeline::Training>& training() const { return training_; }  // per process
  [[nodiscard]] const Categories& categories() const { return categories_; }
  [[nodiscard]] const Names& names() const { return names_; }

 private:
  const model::Run& run_;
  std::vector<timeline::Training> training_;
  Categories categories_;
  Names names_;
};

}  // namespace vramscope::classify
