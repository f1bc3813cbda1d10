// SPDX-License-Identifier: Apache-2.0
// Builds whole traces in memory and reads them back, for tests.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "trace_format/bytes.h"
#include "trace_format/event.h"
#include "trace_format/reader.h"
#include "trace_format/writer.h"

namespace vramscope::trace::testing {

// Returns a closed trace with these events and `threads` threads. Each thread is in its own process.
Bytes WriteTrace(std::span<const Event> events, const TraceWriter::Options& options = {},
                 uint32_t threads = 1);

// Returns a reader of `bytes`, which must be a readable trace.
std::unique_ptr<TraceReader> ReaderOf(ByteView bytes);

// Returns all events of the trace, in order.
std::vector<Event> ReadAll(const TraceReader& reader);

// Returns a random event of any type. Its fields have values of any size; addresses repeat.
Event RandomEvent(std::mt19937_64& random, uint32_t threads);

bool SameEvent(const Event& a, const Event& b);

// Describes the first difference between `got` and `wanted` for a failure message; "" if they are equal.
std::string FirstDifference(std::span<const Event> got, std::span<const Event> wanted);

}  // namespace vramscope::trace::testing
