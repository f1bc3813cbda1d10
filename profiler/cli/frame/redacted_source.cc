// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/frame/redacted_source.h"

#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "profiler/model/forwarding_source.h"
#include "profiler/model/launch.h"
#include "profiler/text/frame.h"
#include "profiler/text/redact.h"

namespace vramscope::cli {
namespace {

constexpr char kCommandLine[] = "command_line";

// Changes what a source reports about its processes.
class RedactedSource : public model::ForwardingSource {
 public:
  RedactedSource(const std::shared_ptr<const model::Source>& source, std::string (*line_of)(std::string_view))
      : ForwardingSource(source), processes_(source->processes()), metadata_(source->metadata()) {
    for (trace::ProcessInfo& process : processes_) process.command_line = line_of(process.command_line);
    if (const auto line = metadata_.find(kCommandLine); line != metadata_.end())
      line->second = line_of(line->second);
  }

  const std::vector<trace::ProcessInfo>& processes() const override { return processes_; }
  const trace::Metadata& metadata() const override { return metadata_; }
  Status ForEachBatch(const Visit& visit) const override { return source().ForEachBatch(visit); }

 protected:
  std::vector<trace::ProcessInfo> processes_;
  trace::Metadata metadata_;
};

class AnonymousSource final : public RedactedSource {
 public:
  explicit AnonymousSource(const std::shared_ptr<const model::Source>& source)
      : RedactedSource(source, text::ProgramAlone), damage_(source->damage()) {
    for (trace::ProcessInfo& process : processes_)
      process.executable = text::WithoutFolders(process.executable);
    for (auto& [key, value] : metadata_) value = text::WithoutFolders(value);
    model::RedactLaunches(metadata_);
    damage_.sentence = text::WithoutFolders(damage_.sentence);
  }

  const trace::Damage& damage() const override { return damage_; }
  std::string_view String(trace::StringId id) const override {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto [known, fresh] = shown_.try_emplace(id);
    if (fresh) known->second = text::WithoutFolders(source().String(id));
    return known->second;
  }
  const trace::SourceFiles& source_files() const override { return Source::source_files(); }

 private:
  trace::Damage damage_;
  mutable std::mutex mutex_;
  mutable std::unordered_map<trace::StringId, std::string> shown_;
};

}  // namespace

std::shared_ptr<const model::Source> WithoutSecrets(std::shared_ptr<const model::Source> source) {
  return std::make_shared<RedactedSource>(source, text::Redacted);
}

std::shared_ptr<const model::Source> ForEverybody(std::shared_ptr<const model::Source> source) {
  return std::make_shared<AnonymousSource>(source);
}

}  // namespace vramscope::cli
