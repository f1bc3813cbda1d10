// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "profiler/cli/record/recording_verb.h"
#include "profiler/collector/target/control_socket.h"

namespace vramscope::cli {

const VerbHelp& DumpHelp() {
  static const VerbHelp help = {
      "dump",
      "write the last steps of a running recording",
      "dump PID",
      {{"vramscope record --black-box 5 -- python train.py", "keep the last 5 steps in memory"},
       {"vramscope dump 4711", "write them now; 4711 is the process of train.py"}},
      {}};
  return help;
}

namespace {

Result<int> DumpVerb(const Arguments& arguments, const Terminal&) {
  const pid_t pid = VRAMSCOPE_TRY(PidFrom(arguments, "dump 4711"));
  const std::string path = VRAMSCOPE_TRY(collector::AskRecordingOf(static_cast<uint32_t>(pid), "dump"));
  Print(Printable(path) + "\n");
  return kDone;
}

}  // namespace

int RunDump(std::span<const std::string> words) {
  return RunParsed(DumpHelp(), Arguments::Parse(DumpHelp(), words), DumpVerb);
}

}  // namespace vramscope::cli
