// SPDX-License-Identifier: Apache-2.0
// Source: the interface through which a run is read. It may be a trace file, a recording of another tool or a
// test. All analysis uses this interface, never the file.
//
// Why: a PyTorch snapshot holds the same facts as a trace (allocations, frees, stacks) and must reach every
// view in the same way.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "trace_format/reader.h"

namespace vramscope::model {

// Metadata of a source whose times are event numbers: it has the order of its events, but not their times.
inline constexpr char kTimesKey[] = "times";
inline constexpr char kEventNumbers[] = "event numbers";
// Metadata of a source that first lists what existed before its history.
inline constexpr char kBeginKey[] = "begin";
inline constexpr char kInTheMiddle[] = "in the middle";
// Metadata of a source that reports when a free has completed (free_completed): a free without that event is
// still pending. In other sources a free is complete when it is requested.
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

  // Source files that were recorded with the run; most have none.
  virtual const trace::SourceFiles& source_files() const {
    static const trace::SourceFiles none;
    return none;
  }

  // The programs that processes noted so that one step can be run again, and the stored re-runs
  // (trace_format/definitions.h).
  virtual const trace::Programs& programs() const {
    static const trace::Programs none;
    return none;
  }
  virtual const trace::Variants& variants() const {
    static const trace::Variants none;
    return none;
  }

  // All events in order, in batches. Return false from `visit` to stop early.
  using Visit = std::function<bool(std::span<const trace::Event>)>;
  virtual Status ForEachBatch(const Visit& visit) const = 0;
};

// A trace file.
[[nodiscard]] std::shared_ptr<const Source> MakeSource(std::unique_ptr<trace::TraceReader> reader);

}  // namespace vramscope::model
