// SPDX-License-Identifier: Apache-2.0
// Creates runs of a job's ranks, for tests. Each run has ten equal steps of one second and at most one fault.
//
//   RankScript rank(3);
//   rank.long_batch_since = 5;
//   std::shared_ptr<const model::Source> source = rank.Write();
#pragma once

#include <memory>
#include <string>

#include "profiler/model/testing/driver_script.h"

namespace vramscope::fleet::testing {

using model::testing::DriverScript;
using model::testing::kMiB;

struct RankScript {
  explicit RankScript(uint32_t number) : rank(number) {}

  static constexpr uint64_t kSecond = 1'000'000'000;
  static constexpr uint64_t kCapacity = 16384 * kMiB;

  uint32_t rank = 0;
  uint32_t world_size = 8;
  uint32_t steps = 10;
  bool has_names = true;     // parameters have names (not in snapshots)
  uint64_t state_bytes = 0;  // optimizer state, allocated in the first step
  std::string mesh;          // "pp 1/2, dp 0/4"; "" = none
  uint64_t start_realtime_ns = uint64_t{1'700'000'000} * kSecond;
  // Faults. A fault with the value 0 does not occur.
  uint32_t long_batch_since = 0;  // sequences are 1.8 times as long from this step on
  uint64_t leak_bytes = 0;        // bytes allocated in each step and never freed
  uint64_t context_bytes = 0;     // bytes of an extra CUDA context on cuda:0
  uint64_t more_weights = 0;      // extra bytes of weights
  uint64_t late_ns = 0;           // delay of each step's end
  uint64_t reserved_more = 0;     // extra reserved bytes
  uint32_t out_of_memory_in = 0;  // step that runs out of memory
  uint32_t killed_in = 0;         // step in which the rank is killed
  int32_t killed_by = 9;          // signal that kills the rank

  // Sets one fault. Ranks 1 to 7 have different faults, rank 0 has none.
  void PlantFaultOfRank() {
    if (rank == 1) long_batch_since = 5;
    if (rank == 2) leak_bytes = 4 * kMiB;
    if (rank == 3) context_bytes = 480 * kMiB;
    if (rank == 4) late_ns = 3 * kSecond;
    if (rank == 5) reserved_more = 900 * kMiB;
    if (rank == 6) out_of_memory_in = 7;
    if (rank == 7) killed_in = 4;
  }

  [[nodiscard]] std::shared_ptr<const model::Source> Write() const {
    DriverScript s;
    const uint64_t device = trace::DeviceCode(1, rank);
    s.trace().SetMetadata("process.0.rank", std::to_string(rank));
    s.trace().SetMetadata("process.0.host", "node-0");
    s.trace().SetMetadata("process.0.env.WORLD_SIZE", std::to_string(world_size));
    if (!mesh.empty()) s.trace().SetMetadata("process.0.mesh", mesh);
    s.trace().SetClock({.start_realtime_ns = start_realtime_ns});
    s.Device(device);
    if (context_bytes != 0) s.OnDevice(trace::DeviceCode(1, 0)).Context(context_bytes);
    s.OnDevice(device);
    const uint64_t reserved = 3072 * kMiB + reserved_more;
    s.Total(512 * kMiB + reserved + leak_bytes * steps, kCapacity);
    s.TotalsAre(0, reserved);
    s.Stack({"main (train.py:10)", "build (model.py:20)"});
    s.Alloc("weight", 1024 * kMiB + more_weights);
    if (has_names) s.Parameter("weight", "layers.0.attn.weight");
    for (uint32_t step = 1; step <= steps; ++step) {
      if (out_of_memory_in == step || killed_in == step) break;
      Step(s, step);
    }
    if (out_of_memory_in != 0) s.Event(trace::EventType::kOutOfMemory, {512 * kMiB, 0, 0, device, 0});
    s.trace().SetExitStatus(0, killed_in != 0 ? killed_by : out_of_memory_in != 0 ? 256 : 0);
    return s.source();
  }

 private:
  void Step(DriverScript& s, uint32_t step) const {
    const bool is_long = long_batch_since != 0 && step >= long_batch_since;
    const auto of_batch = [&](uint64_t mib) { return (is_long ? mib * 9 / 5 : mib) * kMiB; };
    s.At(step * kSecond + late_ns);
    s.Data([&] { s.Stack({"main (train.py:10)", "next_batch (data.py:88)"}).Alloc("batch", of_batch(64)); });
    s.Stack({"main (train.py:10)", "forward (model.py:88)"});
    s.Module("layers.0.attn", [&] { s.Alloc("hidden", of_batch(256)).Saved("hidden"); });
    s.Stack({"main (train.py:10)", "forward (model.py:88)"});
    s.Module("layers.1.attn", [&] { s.Alloc("more", of_batch(256)).Saved("more"); });
    if (leak_bytes != 0) s.Stack({"main (train.py:10)", "log (train.py:42)"}).Alloc("kept", leak_bytes);
    s.At(step * kSecond + kSecond / 2 + late_ns);
    s.Backward([&] {
      s.Alloc("grad", 1024 * kMiB).Gradient("grad", "weight").Released("hidden").Free("hidden");
      s.Released("more").Free("more");
    });
    s.Optimizer("AdamW", [&] {
      if (step == 1 && state_bytes != 0) s.Alloc("state", state_bytes);
    });
    s.Mark(trace::MarkKind::kOptimizerStepDone, step);
    s.Free("grad").Free("batch");
  }
};

}  // namespace vramscope::fleet::testing
