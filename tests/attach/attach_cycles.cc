// SPDX-License-Identifier: Apache-2.0
// Enters a process many times and prints how long it stood still.
//
//   attach_cycles PID CYCLES LIBRARY ENTRY    prints "cycles N failures N median_us N longest_us N watched N"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "injector/attach/inject.h"
#include "injector/attach/refusal.h"

int main(int argc, char** argv) {
  using namespace vramscope;
  if (argc != 5) return 2;
  const auto pid = static_cast<pid_t>(std::atoi(argv[1]));
  const int cycles = std::atoi(argv[2]);
  if (const Status target = attach::CheckTarget(pid); !target.ok()) {
    std::fprintf(stderr, "%s\n", target.error().sentence.c_str());
    return 2;
  }
  std::vector<uint64_t> stops;
  int failures = 0;
  uint32_t watched = 0;
  for (int i = 0; i < cycles; ++i) {
    const auto done =
        attach::Inject(pid, {.library = argv[3], .entry = argv[4], .argument = std::to_string(i)});
    if (done.ok() && done->result == i) {
      stops.push_back(done->stopped_ns);
      watched = std::max(watched, done->watched);
    } else {
      ++failures;
      std::fprintf(stderr, "cycle %d: %s\n", i, done.ok() ? "wrong result" : done.error().sentence.c_str());
    }
  }
  std::sort(stops.begin(), stops.end());
  if (stops.empty()) return 1;
  std::printf("cycles %d failures %d median_us %llu longest_us %llu watched %u\n", cycles, failures,
              static_cast<unsigned long long>(stops[stops.size() / 2] / 1000),
              static_cast<unsigned long long>(stops.back() / 1000), watched);
  return failures == 0 ? 0 : 1;
}
