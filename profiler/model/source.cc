// SPDX-License-Identifier: Apache-2.0
#include "profiler/model/source.h"

#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "profiler/text/frame.h"

namespace vramscope::model {
namespace {

class TraceSource final : public Source {
 public:
  explicit TraceSource(std::unique_ptr<trace::TraceReader> reader) : reader_(std::move(reader)) {}

  const trace::TraceClock& clock() const override { return reader_->clock(); }
  const std::vector<trace::ProcessInfo>& processes() const override { return reader_->processes(); }
  const std::vector<trace::ThreadInfo>& threads() const override { return reader_->threads(); }
  const trace::Metadata& metadata() const override { return reader_->metadata(); }
  const trace::Damage& damage() const override { return reader_->damage(); }
  uint64_t event_count() const override { return reader_->event_count(); }
  std::string_view String(trace::StringId id) const override {
    const std::string_view text = reader_->String(id);
    return text.starts_with("_Z") ? Readable(id, text) : text;
  }
  std::vector<trace::StringId> Stack(trace::StackId id) const override { return reader_->Stack(id); }
  const trace::SourceFiles& source_files() const override { return reader_->source_files(); }
  Status ForEachBatch(const Visit& visit) const override { return reader_->ForEachBatch(visit); }

 private:
  // The recorder writes native frames with the names that libraries export.
  std::string_view Readable(trace::StringId id, std::string_view text) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto [known, fresh] = readable_.try_emplace(id);
    if (fresh) known->second = text::Demangled(text).value_or(std::string(text));
    return known->second;
  }

  std::unique_ptr<trace::TraceReader> reader_;
  mutable std::mutex mutex_;
  mutable std::unordered_map<trace::StringId, std::string> readable_;
};

}  // namespace

std::shared_ptr<const Source> MakeSource(std::unique_ptr<trace::TraceReader> reader) {
  return std::make_shared<TraceSource>(std::move(reader));
}

}  // namespace vramscope::model
