// SPDX-License-Identifier: Apache-2.0
// A Source that wraps another Source, for code that observes or changes the data that is read. Examples are
// progress lines and redaction.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "profiler/model/source.h"

namespace vramscope::model {

// Forwards all functions to the wrapped source, except ForEachBatch, which the derived class defines.
class ForwardingSource : public Source {
 public:
  explicit ForwardingSource(std::shared_ptr<const Source> source) : source_(std::move(source)) {}

  const trace::TraceClock& clock() const override { return source_->clock(); }
  const std::vector<trace::ProcessInfo>& processes() const override { return source_->processes(); }
  const std::vector<trace::ThreadInfo>& threads() const override { return source_->threads(); }
  const trace::Metadata& metadata() const override { return source_->metadata(); }
  const trace::Damage& damage() const override { return source_->damage(); }
  uint64_t event_count() const override { return source_->event_count(); }
  std::string_view String(trace::StringId id) const override { return source_->String(id); }
  std::vector<trace::StringId> Stack(trace::StackId id) const override { return source_->Stack(id); }
  const trace::SourceFiles& source_files() const override { return source_->source_files(); }
  const trace::Programs& programs() const override { return source_->programs(); }
  const trace::Variants& variants() const override { return source_->variants(); }

 protected:
  [[nodiscard]] const Source& source() const { return *source_; }

 private:
  std::shared_ptr<const Source> source_;
};

}  // namespace vramscope::model
