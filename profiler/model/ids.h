// SPDX-License-Identifier: Apache-2.0
// The 32-bit indexes by which the analysis refers to events, blocks, devices and so on.
//
// Why not by time: two events may have the same nanosecond, and "alive at t" would be ambiguous if an address
// is reused within that nanosecond. The order of the events in the trace is the causal order, so the analysis
// works in event positions. Times are looked up (time_index.h) only to show them to people. With 32 bits, ten
// million events fit in a few hundred MiB. A longer trace is cut at kMaxEvents and the cut is reported.
#pragma once

#include <cstdint>

namespace vramscope::model {

// 0-based number of a readable event in the trace. An interval [begin, end) of events means "the state after
// event i" for each i.
using EventIndex = uint32_t;
// 0-based number of an allocation in the trace. The allocation number that people see is one higher.
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
