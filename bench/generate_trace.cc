// SPDX-License-Identifier: Apache-2.0
// Writes the generated training run of profiler/model/testing/training_loop.h to a file, for measurements of
// whole programs: the viewer, report, exports.
//
//   generate_trace ten_million.vms             ten million events
//   generate_trace small.vms 1000000 [LAYERS]
#include <cstdio>
#include <cstdlib>

#include "profiler/model/testing/training_loop.h"

int main(int count, char** words) {
  vramscope::model::testing::TrainingShape shape;
  if (count > 2) shape.events = std::strtoull(words[2], nullptr, 10);
  if (count > 3) shape.layers = static_cast<uint32_t>(std::strtoul(words[3], nullptr, 10));
  if (count < 2 || count > 4 || shape.events == 0 || shape.layers == 0) {
    std::fputs("generate_trace FILE.vms [EVENTS [LAYERS]]\n", stderr);
    return 2;
  }
  const vramscope::Status written = vramscope::model::testing::WriteTrainingFile(shape, words[1]);
  if (!written.ok()) std::fprintf(stderr, "%s\n", written.error().sentence.c_str());
  return written.ok() ? 0 : 1;
}
