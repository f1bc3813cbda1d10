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

// A closed trace of these events, with `threads` threads, each in its own process.
Bytes WriteTrace(std::span<const Event> events, const TraceWriter::Options& options = {},
                 uint32_t threads = 1);

// A reader of `bytes`, which must be a readable trace.
std::unique_ptr<TraceReader> ReaderOf(ByteView bytes);

// Every event that the reader returns, in order.
std::vector<Event> ReadAll(const TraceReader& reader);

// A random event of any type, with fields of any size and addresses that repeat.
Event RandomEvent(std::mt19937_64& random, uint32_t threads);

bool SameEvent(const Event& a, const Event& b);

// The first difference between `got` and `wanted`, for a failure message; "" if they are equal.
std::string FirstDifference(std::span<const Event> got, std::span<const Event> wanted);

}  // namespace vramscope::trace::testing
