// SPDX-License-Identifier: Apache-2.0
// Source: the interface through which all analyses read a recorded run. The data may come from a trace file,
// a PyTorch snapshot or a test.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "trace_format/reader.h"

namespace vramscope::model {

// Three keys of a source's metadata and their values.
//
// The source has the order of its events but not their times.
inline constexpr char kTimesKey[] = "times";
inline constexpr char kEventNumbers[] = "event numbers";
// The recording began in the middle of the run. The first events list the blocks that existed before.
inline constexpr char kBeginKey[] = "begin";
inline constexpr char kInTheMiddle[] = "in the middle";
// The source reports when a free has completed (free_completed). A free without this event is pending. In
// other sources, a free completes when it is requested.
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
  // Number of events, for the display of progress. If the file is damaged, fewer events can be read.
  virtual uint64_t event_count() const = 0;

  // Returns the text of `id`; "" for 0 and for unknown ids. The text is valid while the source exists.
  virtual std::string_view String(trace::StringId id) const = 0;
  // Returns the frames of a stack, outermost first; empty for 0 and for unknown ids.
  virtual std::vector<trace::StringId> Stack(trace::StackId id) const = 0;

  // Source files that the trace contains (record --embed-source).
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

  // Calls `visit` with all events in order, in batches, until `visit` returns false.
  using Visit = std::function<bool(std::span<const trace::Event>)>;
  virtual Status ForEachBatch(const Visit& visit) const = 0;
};

[[nodiscard]] std::shared_ptr<const Source> MakeSource(std::unique_ptr<trace::TraceReader> reader);

}  // namespace vramscope::model
