// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/kept_reruns.h"

#include <algorithm>
#include <utility>

#include "profiler/experiment/unanswered.h"
#include "trace_format/reader.h"

namespace vramscope::viewer {
namespace {

std::string NameForScripts(const std::vector<whatif::Asked>& changes) {
  std::string name;
  for (const whatif::Asked& one : changes) name += (name.empty() ? "" : "+") + one.lever + "=" + one.value;
  return name;
}

}  // namespace

KeptReruns::KeptReruns(std::shared_ptr<const model::Source> source, std::string path)
    : source_(std::move(source)),
      path_(std::move(path)),
      recorded_(experiment::RecordedPlace(source_->metadata())),
      kept_(experiment::KeptVariants(*source_, path_)) {
  if (std::optional<experiment::NotedProgram> program = experiment::ProgramOf(source_->programs()))
    own_switch_ = std::move(program->head.checkpointed);
  // A recording on a real GPU does not name a simulated one: the GPU of its re-runs is used instead.
  if (recorded_.gpu.empty() && !kept_.empty()) recorded_.gpu = kept_.front().gpu;
}

std::shared_ptr<const KeptReruns> KeptReruns::Again(const std::string& path) {
  auto reader = trace::TraceReader::Open(path);
  if (!reader.ok()) return nullptr;
  return std::make_shared<KeptReruns>(model::MakeSource(std::move(reader).value()), path);
}

std::vector<RerunChoice> KeptReruns::Choices() const {
  std::vector<RerunChoice> choices;
  for (const experiment::KeptVariant& one : kept_) {
    if (one.changes.empty()) continue;
    const bool elsewhere = one.gpu != recorded_.gpu;
    choices.push_back({one.key, experiment::OptionsText(one.changes) + (elsewhere ? " on " + one.gpu : ""),
                       NameForScripts(one.changes) + (elsewhere ? "@" + one.gpu : ""), true});
  }
  for (const std::vector<whatif::Asked>& changes : experiment::UsualVariants()) {
    const std::string key = KeyOf(changes);
    if (Find(key) == nullptr)
      choices.push_back({key, experiment::OptionsText(changes), NameForScripts(changes), false});
  }
  return choices;
}

const experiment::KeptVariant* KeptReruns::Find(const std::string& key) const {
  const auto parts = experiment::ReadVariantKey(key);
  if (!parts) return nullptr;
  for (const experiment::KeptVariant& one : kept_) {
    if (one.key == key) return &one;
    const bool any = parts->place.gpu.empty();
    if (any && experiment::OptionsText(one.changes) == experiment::OptionsText(parts->changes)) return &one;
  }
  return nullptr;
}

std::string KeptReruns::KeyOf(const std::vector<whatif::Asked>& changes) const {
  return experiment::VariantKey(changes, recorded_);
}

Result<std::shared_ptr<const LoadedRerun>> KeptReruns::Get(const experiment::KeptVariant& kept) const {
  const std::lock_guard lock(mutex_);
  if (const auto found = loaded_.find(kept.key); found != loaded_.end()) return found->second;
  auto step = experiment::ReadVariantStep(experiment::FindVariant(*source_, path_, kept.key));
  if (!step.ok())
    return Error{"The re-run with " + experiment::OptionsText(kept.changes) +
                 " has no usable step: " + step.error().sentence};
  (*step)->step.own_switch = own_switch_;
  auto loaded = std::make_shared<LoadedRerun>();
  loaded->modules = ModulesOf((*step)->step);
  loaded->variant = std::move(step).value();
  return loaded_[kept.key] = std::move(loaded);
}

std::string KeptReruns::Drift(const whatif::Baseline& recorded, const std::string& gpu) const {
  experiment::Place place = recorded_;
  place.gpu = gpu;
  const experiment::KeptVariant* const unchanged = Find(experiment::VariantKey({}, place));
  if (unchanged == nullptr) return "no re-run of the unchanged program exists to compare with";
  const auto loaded = Get(*unchanged);
  return loaded.ok() ? experiment::DriftOf(recorded, *(*loaded)->variant).sentence : loaded.error().sentence;
}

KeptReruns::Unanswered KeptReruns::WhyNot(const std::vector<whatif::Asked>& changes) const {
  const std::string why = experiment::WhyNoProgram(experiment::ProgramOf(source_->programs()), changes);
  if (why.empty())
    return {
        experiment::OptionsText(changes) +
            " changes what PyTorch computes, and this file has no re-run with it. This command makes one:",
        CommandFor(path_, changes)};
  return {why + " Or try the change with the program itself:",
          experiment::TryCommand(source_->metadata(), recorded_.gpu, changes)};
}

std::string KeptReruns::GpuToName(const std::string& gpu) const {
  return gpu == experiment::RecordedPlace(source_->metadata()).gpu ? "" : gpu;
}

uint64_t KeptReruns::batch() const {
  const auto program = experiment::ProgramOf(source_->programs());
  return program ? program->head.batch : 0;
}

}  // namespace vramscope::viewer
