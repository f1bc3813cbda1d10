// SPDX-License-Identifier: Apache-2.0
#include "profiler/model/source.h"

#include <utility>

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
  std::string_view String(trace::StringId id) const override { return reader_->String(id); }
  std::vector<trace::StringId> Stack(trace::StackId id) const override { return reader_->Stack(id); }
  const trace::SourceFiles& source_files() const override { return reader_->source_files(); }
  Status ForEachBatch(const Visit& visit) const override { return reader_->ForEachBatch(visit); }

 private:
  std::unique_ptr<trace::TraceReader> reader_;
};

}  // namespace

std::shared_ptr<const Source> MakeSource(std::unique_ptr<trace::TraceReader> reader) {
  return std::make_shared<TraceSource>(std::move(reader));
}

}  // namespace vramscope::model
