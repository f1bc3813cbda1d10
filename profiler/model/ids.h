// SPDX-License-Identifier: Apache-2.0
// How the analysis points at things: by position, in 32 bits.
//
// Why not by time: two events may carry the same nanosecond, and an address that is reused within it would
// make "alive at t" ambiguous. The order of the events in the trace is the causal order, so every question is
// asked and answered in event positions; times are looked up (time_index.h) when people are told about it. 32
// bits keep ten million events in a few hundred MiB; a longer trace is cut at kMaxEvents and the cut is
// reported.
#pragma once

#include <cstdint>

namespace vramscope::model {

// The how-manieth readable event of the trace it is, from 0. An interval [begin, end) of events is "the state
// after event i" for each i.
using EventIndex = uint32_t;
// The how-manieth allocation of the trace it is, from 0; the allocation number that people see is one more.
using BlockId = uint32_t;

using ProcessIndex = uint32_t;  // into Run::processes
using ThreadIndex = uint32_t;   // into Run::threads
using DeviceIndex = uint32_t;   // into Run::devices
using ContextId = uint32_t;     // into ContextTree; 0 = nothing known

inline constexpr uint32_t kNone = 0xffffffff;         // no such thing
inline constexpr EventIndex kNever = 0xffffffff;      // has not happened within the trace
inline constexpr EventIndex kMaxEvents = 0xfffffff0;  // events beyond are not loaded

// A value that holds from an event on.
struct Since {
  EventIndex event = 0;
  int64_t value = 0;
};

}  // namespace vramscope::model
