// SPDX-License-Identifier: Apache-2.0
#include "profiler/classify/analysis.h"

namespace vramscope::classify {
namespace {

std::vector<timeline::Training> FindTrainings(const model::Run& run) {
  std::vector<timeline::Training> training;
  for (model::ProcessIndex process = 0; process < run.processes.size(); ++process) {
    training.push_back(timeline::FindTraining(run, process));
  }
  return training;
}

}  // namespace

Analysis::Analysis(const model::Run& run)
    : run_(run), training_(FindTrainings(run)), categories_(run, training_), names_(run) {}

}  // namespace vramscope::classify
