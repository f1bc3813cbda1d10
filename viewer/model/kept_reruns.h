// SPDX-License-Identifier: Apache-2.0
// The re-runs (docs/glossary.md) that an open file contains, for the what-if panel. Each re-run is loaded at
// its first use, on the calling thread. If a re-run is missing, the viewer shows the command that makes it.
// The viewer does not run programs itself.
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

// The step of a re-run, and the modules that can be chosen in it.
struct LoadedRerun {
  std::unique_ptr<const experiment::VariantStep> variant;
  ModuleChoices modules;
};

// One entry in the list of re-runs.
struct RerunChoice {
  std::string key;    // the value of WhatIfQuestion::rerun for this re-run
  std::string title;  // "--amp bf16"; with another GPU than the recorded one, "--amp bf16 on a100-40gb"
  std::string name;   // name in scripts: "amp=bf16"
  bool kept = false;  // true if the file contains this re-run
};

class KeptReruns {
 public:
  KeptReruns(std::shared_ptr<const model::Source> source, std::string path);
  // Reads the file again, to find re-runs that were added. Returns nullptr if the file cannot be read.
  [[nodiscard]] static std::shared_ptr<const KeptReruns> Again(const std::string& path);

  // Returns the re-runs that the file contains, followed by the usual re-runs that it does not contain.
  [[nodiscard]] std::vector<RerunChoice> Choices() const;
  // Returns the re-run with this key; nullptr if the file does not contain it. A key without a GPU matches
  // any GPU.
  [[nodiscard]] const experiment::KeptVariant* Find(const std::string& key) const;
  // Returns the key for these changes on the recorded GPU. The file need not contain the re-run.
  [[nodiscard]] std::string KeyOf(const std::vector<whatif::Asked>& changes) const;
  // Returns the step of a re-run. The first call loads it. Thread-safe.
  [[nodiscard]] Result<std::shared_ptr<const LoadedRerun>> Get(const experiment::KeptVariant& kept) const;
  // Describes the difference between a re-run of the unchanged program on this GPU and the recording
  // (experiment::DriftOf); "" if they agree. Thread-safe.
  [[nodiscard]] std::string Drift(const whatif::Baseline& recorded, const std::string& gpu) const;

  // Why the viewer cannot answer some changes, and a command that can.
  struct Unanswered {
    std::string sentence;
    std::string command;
  };
  [[nodiscard]] Unanswered WhyNot(const std::vector<whatif::Asked>& changes) const;
  // Returns `gpu` if a `vramscope whatif` command must name the GPU; "" if `gpu` is the recorded GPU.
  [[nodiscard]] std::string GpuToName(const std::string& gpu) const;
  // Returns the batch size of the trace's program; 0 = unknown.
  [[nodiscard]] uint64_t batch() const;

 private:
  std::shared_ptr<const model::Source> source_;
  std::string path_;
  experiment::Place recorded_;
  std::vector<std::string> own_switch_;  // value of Step::own_switch for every re-run
  std::vector<experiment::KeptVariant> kept_;
  mutable std::mutex mutex_;  // protects loaded_
  mutable std::map<std::string, std::shared_ptr<const LoadedRerun>> loaded_;
};

}  // namespace vramscope::viewer
