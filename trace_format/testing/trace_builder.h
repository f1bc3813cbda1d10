// SPDX-License-Identifier: Apache-2.0
// Whole traces in memory and back, for tests.
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

// A closed trace of these events, with `threads` threads in one process each.
Bytes WriteTrace(std::span<const Event> events, const TraceWriter::Options& options = {},
                 uint32_t threads = 1);

// Of a trace that can be opened.
std::unique_ptr<TraceReader> ReaderOf(ByteView bytes);

// Every event that the trace gives, in order.
std::vector<Event> ReadAll(const TraceReader& reader);

// An event of any type, with fields of any size and addresses that come again.
Event RandomEvent(std::mt19937_64& random, uint32_t threads);

bool SameEvent(const Event& a, const Event& b);

// Where `got` differs from `wanted` first, for a failure message; "" when they are equal.
std::string FirstDifference(std::span<const Event> got, std::span<const Event> wanted);

}  // namespace vramscope::trace::testing
