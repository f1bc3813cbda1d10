// SPDX-License-Identifier: Apache-2.0
// For tests: a Drain that reads rings in this process's memory, and the trace that it writes.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "profiler/collector/order/clock_map.h"
#include "profiler/collector/order/drain.h"
#include "profiler/collector/output/trace_output.h"
#include "profiler/collector/testing/ring_writer.h"
#include "trace_format/reader.h"

namespace vramscope::collector::testing {

// Keeps the written bytes in memory. When more than `capacity` bytes are written, Write fails as on a full
// disk.
class MemorySink final : public trace::ByteSink {
 public:
  MemorySink(std::vector<std::byte>& bytes, size_t capacity) : bytes_(bytes), capacity_(capacity) {}
  Status Write(std::span<const std::byte> more) override {
    if (bytes_.size() + more.size() > capacity_)
      return Error{"run.vms: cannot be written: No space left on device."};
    bytes_.insert(bytes_.end(), more.begin(), more.end());
    return {};
  }

 private:
  std::vector<std::byte>& bytes_;
  size_t capacity_;
};

// A drain and a trace for tests. Times in records and in the trace are CLOCK_MONOTONIC.
class TraceRig {
 public:
  explicit TraceRig(size_t capacity = SIZE_MAX, uint64_t max_bytes = 0) {
    auto made =
        TraceOutput::Create(std::make_unique<MemorySink>(bytes_, capacity), trace::TraceClock{}, max_bytes);
    EXPECT_TRUE(made.ok());
    output = std::move(made).value();
    drain = std::make_unique<Drain>(*output, clock, 0);
  }

  TargetProcess& Add(RingMemory& memory, const std::string& name = "1.0.ring") {
    auto file = RingFile::Attach(memory.data(), memory.size(), name);
    EXPECT_TRUE(file.ok() && *file != nullptr);
    return drain->AddProcess(std::move(*file), "", "/bin/target", "target");
  }

  // Closes the trace and reads it back.
  const trace::TraceReader& Reader() {
    if (reader_) return *reader_;
    drain->WriteSummary();
    output->Close();
    auto opened = trace::TraceReader::OpenBytes(bytes_, "test");
    EXPECT_TRUE(opened.ok());
    reader_ = std::move(opened).value();
    return *reader_;
  }
  std::vector<trace::Event> Events() {
    std::vector<trace::Event> events;
    EXPECT_TRUE(Reader()
                    .ForEachBatch([&](std::span<const trace::Event> batch) {
                      events.insert(events.end(), batch.begin(), batch.end());
                      return true;
                    })
                    .ok());
    return events;
  }
  std::string Metadata(const std::string& key) {
    const auto found = Reader().metadata().find(key);
    return found == Reader().metadata().end() ? "" : found->second;
  }

  ClockMap clock{ClockAnchor{}};
  std::unique_ptr<TraceOutput> output;
  std::unique_ptr<Drain> drain;

 private:
  std::vector<std::byte> bytes_;
  std::unique_ptr<trace::TraceReader> reader_;
};

}  // namespace vramscope::collector::testing
