// SPDX-License-Identifier: Apache-2.0
// make_job FOLDER RANKS STEPS [summaries]: writes the traces of a job, FOLDER/rank0.vms and so on, and their
// summaries if asked. From eight ranks on, seven have a fault each (profiler/fleet/testing/rank_script.h); the
// ranks from 8 on have none.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "profiler/fleet/read.h"
#include "profiler/fleet/summary_file.h"
#include "profiler/fleet/testing/rank_script.h"
#include "profiler/snapshot/to_trace.h"
#include "trace_format/file_sink.h"

using vramscope::fleet::testing::RankScript;

int main(int count, char** words) {
  if (count != 4 && count != 5) {
    std::fputs("usage: make_job FOLDER RANKS STEPS [summaries]\n", stderr);
    return 2;
  }
  const auto ranks = static_cast<uint32_t>(std::atoi(words[2]));
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    RankScript script(rank);
    script.world_size = ranks;
    script.steps = static_cast<uint32_t>(std::atoi(words[3]));
    script.PlantFaultOfRank();
    const std::string path = std::string(words[1]) + "/rank" + std::to_string(rank) + ".vms";
    auto sink = vramscope::trace::CreateFileSink(path);
    if (!sink.ok() || !vramscope::snapshot::WriteTrace(*script.Write(), std::move(*sink)).ok()) {
      std::fprintf(stderr, "%s: cannot be written\n", path.c_str());
      return 1;
    }
    if (count == 5)
      std::ofstream(path + std::string(vramscope::fleet::kSummarySuffix))
          << vramscope::fleet::SummaryFor(path).value();
  }
  return 0;
}
