// SPDX-License-Identifier: Apache-2.0
// The types of the 32-bit indexes of events, blocks, devices and so on.
//
// The analysis uses event indexes instead of times, because two events may have the same nanosecond. A cause
// always comes before its effect in the trace. time_index.h converts an index to a time. Events from
// kMaxEvents on are not loaded, and this is reported.
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

inline constexpr uint32_t kNone = 0xffffffff;         // no such element
inline constexpr EventIndex kNever = 0xffffffff;      // has not happened within the trace
inline constexpr EventIndex kMaxEvents = 0xfffffff0;  // events beyond are not loaded

// A value that is valid from this event on.
struct Since {
  EventIndex event = 0;
  int64_t value = 0;
};

}  // namespace vramscope::model
