// SPDX-License-Identifier: Apache-2.0
// Source: the interface through which all analysis reads a run. The run may be a trace file, a PyTorch
// snapshot or a test.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "trace_format/reader.h"

namespace vramscope::model {

// Metadata of a source that has the order of its events but not their times.
inline constexpr char kTimesKey[] = "times";
inline constexpr char kEventNumbers[] = "event numbers";
// Metadata of a source that first lists what existed before its history.
inline constexpr char kBeginKey[] = "begin";
inline constexpr char kInTheMiddle[] = "in the middle";
// Metadata of a source that reports completed frees (free_completed). A free without that event is pending.
// In other sources a free is complete when requested.
inline constexpr char kFreesKey[] = "frees";
inline constexpr char kInTwoHalves[] = "requested and completed";

class Source {
 public:
  virtual ~Source() = default;

  virtual const trace::TraceClock& clock() const = 0;
  virtual const std::vector<trace::ProcessInfo>& processes() const = 0;
  virtual const std::vector<trace::ThreadInfo>& threads() const = 0;
  virtual const trace::Metadata& metadata() const = 0;
  virtual const trace::Damage& damage() const = 0;
  virtual uint64_t event_count() const = 0;  // for progress; fewer may be readable

  // "" for 0 and for unknown ids. Lives as long as the source.
  virtual std::string_view String(trace::StringId id) const = 0;
  // Frames from outermost to innermost; empty for 0 and unknown ids.
  virtual std::vector<trace::StringId> Stack(trace::StackId id) const = 0;

  // Recorded source files; usually none.
  virtual const trace::SourceFiles& source_files() const {
    static const trace::SourceFiles none;
    return none;
  }

  // Programs for running one step again, and stored re-runs (trace_format/definitions.h).
  virtual const trace::Programs& programs() const {
    static const trace::Programs none;
    return none;
  }
  virtual const trace::Variants& variants() const {
    static const trace::Variants none;
    return none;
  }

  // All events in order, in batches. `visit` returns false to stop early.
  using Visit = std::function<bool(std::span<const trace::Event>)>;
  virtual Status ForEachBatch(const Visit& visit) const = 0;
};

[[nodiscard]] std::shared_ptr<const Source> MakeSource(std::unique_ptr<trace::TraceReader> reader);

}  // namespace vramscope::model
