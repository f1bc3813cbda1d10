// SPDX-License-Identifier: Apache-2.0
// The re-runs in an open file, for the what-if view. Each is loaded at first use, on the calling thread. The
// viewer never runs a program: it shows the command for a missing re-run.
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

// One entry in the list of re-runs.
struct RerunChoice {
  std::string key;    // the value of WhatIfQuestion::rerun for it
  std::string title;  // "--amp bf16"; "--amp bf16 on a100-40gb" on another GPU than the recorded one
  std::string name;   // "amp=bf16": for scripts
  bool kept = false;
};

class KeptReruns {
 public:
  KeptReruns(std::shared_ptr<const model::Source> source, std::string path);
  // Reads the file again, for added re-runs. nullptr if it cannot be read.
  [[nodiscard]] static std::shared_ptr<const KeptReruns> Again(const std::string& path);

  // The kept re-runs, then the usual ones that were not kept.
  [[nodiscard]] std::vector<RerunChoice> Choices() const;
  // nullptr if not kept. A key without a GPU matches any GPU.
  [[nodiscard]] const experiment::KeptVariant* Find(const std::string& key) const;
  // The key for these changes on the recorded GPU, kept or not.
  [[nodiscard]] std::string KeyOf(const std::vector<whatif::Asked>& changes) const;
  // Loads the re-run once. Thread-safe. An error is a sentence.
  [[nodiscard]] Result<std::shared_ptr<const LoadedRerun>> Get(const experiment::KeptVariant& kept) const;
  // The difference between re-runs on this GPU and the recording (experiment::DriftOf). Thread-safe.
  [[nodiscard]] std::string Drift(const whatif::Baseline& recorded, const std::string& gpu) const;

  // Why changes have no answer, and the command that computes it.
  struct Unanswered {
    std::string sentence;
    std::string command;
  };
  [[nodiscard]] Unanswered WhyNot(const std::vector<whatif::Asked>& changes) const;
  // The GPU to name in a `vramscope whatif` command; "" if `gpu` is the recorded one.
  [[nodiscard]] std::string GpuToName(const std::string& gpu) const;
  // Samples in the batch of the trace's program; 0 = not known.
  [[nodiscard]] uint64_t batch() const;

 private:
  std::shared_ptr<const model::Source> source_;
  std::string path_;
  experiment::Place recorded_;
  std::vector<std::string> own_switch_;  // for Step::own_switch of every re-run
  std::vector<experiment::KeptVariant> kept_;
  mutable std::mutex mutex_;  // protects the following
  mutable std::map<std::string, std::shared_ptr<const LoadedRerun>> loaded_;
};

}  // namespace vramscope::viewer
