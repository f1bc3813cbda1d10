// SPDX-License-Identifier: Apache-2.0
// The 32-bit indexes of events, blocks, devices and so on.
//
// The analysis counts in event positions: two events may have the same nanosecond. Trace order is causal
// order. Use time_index.h to convert a position for display. A trace is cut at kMaxEvents, and the cut is
// reported.
#pragma once

#include <cstdint>

namespace vramscope::model {

// 0-based number of a readable event in the trace. An interval [begin, end) of events means "the state after
// event i" for each i.
using EventIndex = uint32_t;
// 0-based number of an allocation in the trace. People see this number plus one.
using BlockId = uint32_t;

using ProcessIndex = uint32_t;  // into Run::processes
using ThreadIndex = uint32_t;   // into Run::threads
using DeviceIndex = uint32_t;   // into Run::devices
using ContextId = uint32_t;     // into ContextTree; 0 = unknown

inline constexpr uint32_t kNone = 0xffffffff;         // no such thing
inline constexpr EventIndex kNever = 0xffffffff;      // has not happened within the trace
inline constexpr EventIndex kMaxEvents = 0xfffffff0;  // events beyond are not loaded

// A value that holds from an event on.
struct Since {
  EventIndex event = 0;
  int64_t value = 0;
};

}  // namespace vramscope::model
