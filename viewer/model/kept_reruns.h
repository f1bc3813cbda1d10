// SPDX-License-Identifier: Apache-2.0
// The re-runs that an open file has, for the what-if view: each is loaded when it is first asked for, on the
// thread that asks. The viewer never runs a program: what was not kept is named with the command that makes
// it.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "profiler/experiment/answer.h"
#include "profiler/experiment/variants.h"
#include "viewer/model/whatif_question.h"

namespace vramscope::viewer {

// The step of a re-run, with what can be changed in it.
struct LoadedRerun {
  std::unique_ptr<const experiment::VariantStep> variant;
  ModuleChoices modules;
};

// One line of the choice.
struct RerunChoice {
  std::string key;    // what WhatIfQuestion::rerun is then
  std::string title;  // "--amp bf16", "--amp bf16 on a100-40gb" where it is not the recorded GPU
  std::string name;   // "amp=bf16": for scripts
  bool kept = false;
};

class KeptReruns {
 public:
  KeptReruns(std::shared_ptr<const model::Source> source, std::string path);
  // As the file is now: re-runs may have come to it since it was opened. Nothing where it cannot be read.
  [[nodiscard]] static std::shared_ptr<const KeptReruns> Again(const std::string& path);

  // The kept ones, then the usual ones that were not kept.
  [[nodiscard]] std::vector<RerunChoice> Choices() const;
  // nullptr: it was not kept. A key without a GPU stands for any.
  [[nodiscard]] const experiment::KeptVariant* Find(const std::string& key) const;
  // That of these changes on the recorded GPU, kept or not.
  [[nodiscard]] std::string KeyOf(const std::vector<whatif::Asked>& changes) const;
  // Loads it; a second time it is there. Any thread. An error is a sentence.
  [[nodiscard]] Result<std::shared_ptr<const LoadedRerun>> Get(const experiment::KeptVariant& kept) const;
  // How far re-runs on this GPU are from the recording (experiment::DriftOf). Any thread.
  [[nodiscard]] std::string Drift(const whatif::Baseline& recorded, const std::string& gpu) const;

  // Why there is no answer to changes that were not kept, and the command that gives one.
  struct Unanswered {
    std::string sentence;
    std::string command;
  };
  [[nodiscard]] Unanswered WhyNot(const std::vector<whatif::Asked>& changes) const;
  // The GPU that `vramscope whatif` must be given by name for a re-run on `gpu`; "" = none.
  [[nodiscard]] std::string GpuToName(const std::string& gpu) const;
  // Samples in the batch of the noted program; 0 = not known.
  [[nodiscard]] uint64_t batch() const;

 private:
  std::shared_ptr<const model::Source> source_;
  std::string path_;
  experiment::Place recorded_;
  std::vector<experiment::KeptVariant> kept_;
  mutable std::mutex mutex_;  // of what follows
  mutable std::map<std::string, std::shared_ptr<const LoadedRerun>> loaded_;
};

}  // namespace vramscope::viewer
