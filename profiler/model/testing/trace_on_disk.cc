// SPDX-License-Identifier: Apache-2.0
#include "profiler/model/testing/trace_on_disk.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "profiler/model/testing/training_loop.h"

namespace vramscope::model::testing {

void MustSucceed(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.error().sentence.c_str());
  std::exit(1);
}

const std::string& TraceOnDisk() {
  struct File {
    std::string path = "/tmp/vramscope_bench." + std::to_string(getpid()) + ".vms";
    File() { MustSucceed(WriteTrainingFile({}, path)); }
    ~File() { std::remove(path.c_str()); }
  };
  static const File file;
  return file.path;
}

double HighestResidentMib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

}  // namespace vramscope::model::testing
