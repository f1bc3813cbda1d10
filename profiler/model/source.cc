// SPDX-License-Identifier: Apache-2.0
#include "profiler/model/source.h"

#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "profiler/model/symbol_files.h"
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
    const bool native = text.starts_with("_Z") || (text.starts_with('/') && text.ends_with(']'));
    return native ? Readable(id, text) : text;
  }
  std::vector<trace::StringId> Stack(trace::StackId id) const override { return reader_->Stack(id); }
  const trace::SourceFiles& source_files() const override { return reader_->source_files(); }
  const trace::Programs& programs() const override { return reader_->programs(); }
  const trace::Variants& variants() const override { return reader_->variants(); }
  Status ForEachBatch(const Visit& visit) const override { return reader_->ForEachBatch(visit); }

 private:
  // The recorder writes native frames with the names that libraries export. If there is no exported name, it
  // writes the library's path.
  std::string_view Readable(trace::StringId id, std::string_view text) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto [known, fresh] = readable_.try_emplace(id);
    if (!fresh) return known->second;
    known->second = text;
    if (const auto unnamed = ParseUnnamedFrame(text)) known->second = symbols_.Shown(*unnamed);
    if (auto name = text::Demangled(known->second)) known->second = std::move(*name);
    return known->second;
  }

  std::unique_ptr<trace::TraceReader> reader_;
  mutable std::mutex mutex_;
  mutable std::unordered_map<trace::StringId, std::string> readable_;
  mutable SymbolFiles symbols_;
};

}  // namespace

std::shared_ptr<const Source> MakeSource(std::unique_ptr<trace::TraceReader> reader) {
  return std::make_shared<TraceSource>(std::move(reader));
}

}  // namespace vramscope::model
