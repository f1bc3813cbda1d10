// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/launch/record.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "profiler/cli/frame/arguments.h"
#include "profiler/cli/frame/terminal.h"
#include "profiler/cli/frame/verb.h"
#include "profiler/cli/record/kept_parts.h"
#include "profiler/cli/record/rank_summary_file.h"
#include "profiler/cli/record/recording_line.h"
#include "profiler/cli/record/recording_options.h"
#include "profiler/collector/launch/command.h"
#include "profiler/collector/launch/signal_relay.h"
#include "profiler/collector/output/output_place.h"
#include "profiler/collector/target/target_program.h"
#include "profiler/text/size_text.h"
#include "trace_format/ring.h"

namespace vramscope::cli {

const VerbHelp& RecordHelp() {
  static const VerbHelp help = {
      "record",
      "record what a command allocates",
      "record [options] [--] COMMAND...",
      {{"vramscope record -- python train.py", "write run.vms, or run-2.vms if that exists"},
       {"vramscope record -o big.vms --depth all --stacks python -- torchrun --nproc-per-node 2 train.py",
        "record all processes in one trace"}},
      {{"output", 'o', "FILE",
        "Write the trace to this file; an old trace is replaced. In the name, %r is the rank, %h the host,\n"
        "%p the process ID of vramscope, %j the job, and %q{NAME} an environment variable."},
       {"device", '\0', "auto|cpu|cuda|all",
        "Record the memory of these devices. auto: CUDA if the program uses it, else the CPU."},
       {"depth", '\0', "light|auto|deep|all",
        "How much to record. light: allocations and what they are. auto: also operators, for a few steps.\n"
        "deep: also operators, for the steps of --deep-steps. all: also operators, for the whole run."},
       {"deep-steps", '\0', "2-4",
        "Record operators in these steps, counted from 1: 3, 2-4, or 2-4,100-101."},
       {"stacks", '\0', "none|python|native|all",
        "Record the call stacks of allocations, in deep steps. This slows the program down."},
       {"embed-source", '\0', nullptr,
        "Store in the trace the source files of your program that appear in stacks; needs --stacks."},
       {"program", '\0', "on|off", kProgramHelp},
       {"cupti", '\0', "auto|off|on",
        "Also watch the CUDA driver through CUPTI. auto: only if the program bypasses the driver hooks.\n"
        "on: always, to compare hooks and CUPTI. torch.profiler then shares CUPTI with the recorder."},
       {"emit-nvtx-mem", '\0', nullptr,
        "Describe PyTorch's memory to the tool that NVTX_INJECTION64_PATH names."},
       {"max-size", '\0', "10GiB", "Stop recording when the trace reaches this size; the command continues."},
       {"keep", '\0', "full|summary[:SIZE]|ring:SIZE",
        "How much of a long run is kept on disk. ring:2GiB: the last 2 GiB. summary: the end, the first\n"
        "steps, and steps that differ from the steps before them, in at most 64 MiB or SIZE. The figures\n"
        "of all steps are kept for vramscope fleet."},
       {"black-box", '\0', "STEPS",
        "Keep only the last STEPS optimizer steps, in memory. They are written when memory runs out, when\n"
        "the command fails, or by vramscope dump; otherwise nothing is written."},
       {"redact", '\0', nullptr,
        "Remove what looks like a token, key or password from recorded command lines."},
       {"dormant", '\0', nullptr, "Record nothing until vramscope start. This has no measurable cost."},
       {"quiet", 'q', nullptr, "Print no summary line at the end."}}};
  return help;
}

namespace {

Result<collector::RecordOptions> RecordOptionsFrom(const Arguments& arguments) {
  collector::RecordOptions options;
  options.command = arguments.positionals();
  options.output = VRAMSCOPE_TRY(collector::ExpandName(arguments.Get("output")));
  options.say = Say;
  options.redact = arguments.Has("redact");
  options.device = arguments.Get("device", options.device);
  options.depth = arguments.Get("depth", options.depth);
  options.deep_steps = arguments.Get("deep-steps", options.deep_steps);
  options.emit_nvtx_mem = arguments.Has("emit-nvtx-mem");
  options.cupti = arguments.Get("cupti", options.cupti);
  options.version = VRAMSCOPE_VERSION;
  options.release_stdio = true;
  for (const Status& status :
       {CheckChoice("device", options.device, {"auto", "cpu", "cuda", "all"}),
        CheckChoice("depth", options.depth, {"light", "auto", "deep", "all"}),
        CheckChoice("cupti", options.cupti, {"auto", "off", "on"}), CheckSteps(options.deep_steps),
        ReadStacks(arguments, options), ReadProgram(arguments, options)}) {
    VRAMSCOPE_TRY(status);
  }
  if (options.command.empty()) return Error{"record needs a command: vramscope record -- python train.py"};
  VRAMSCOPE_TRY(ReadBlackBox(arguments, options));
  if (arguments.Has("max-size")) {
    options.max_bytes = VRAMSCOPE_TRY(text::ParseSize("max-size", arguments.Get("max-size")));
  }
  return options;
}

// Executes the command in this process, with a dormant recorder in it.
Result<int> RunDormant(const collector::RecordOptions& options, const collector::Installation& installation) {
  const std::string program = VRAMSCOPE_TRY(collector::FindProgram(options.command.front()));
  const std::string preload = collector::PrependToPathVariable("LD_PRELOAD", installation.injector);
  setenv("LD_PRELOAD", preload.c_str(), 1);
  setenv(trace::kDormantVariable, "dormant", 1);
  std::vector<std::string> words = options.command;
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execv(program.c_str(), pointers.data());
  return Error{fmt::format("{}: cannot be started: {}.", program, std::strerror(errno))};
}

Result<int> RecordVerb(const Arguments& arguments, const Terminal&) {
  collector::RecordOptions options = VRAMSCOPE_TRY(RecordOptionsFrom(arguments));
  KeptParts parts(VRAMSCOPE_TRY(KeepFrom(arguments)));
  parts.Prepare(options);
  options.installation = VRAMSCOPE_TRY(collector::FindInstallation());
  VRAMSCOPE_TRY(collector::CheckCommand(options.command));
  if (arguments.Has("dormant")) return RunDormant(options, *options.installation);
  collector::BridgeOptions wishes;
  if (!arguments.Has("quiet")) wishes.progress = Say;
  collector::FindBridge(options, wishes);

  const collector::RecordOutcome outcome = VRAMSCOPE_TRY(collector::Record(options));
  parts.Finish();
  ::signal(SIGPIPE, SIG_IGN);  // the command's exit status matters, not whether the last line is read
  if (!arguments.Has("quiet")) {
    std::fputs((Printable(RecordingLine(outcome)) + "\n").c_str(), stderr);
    if (const std::string line = parts.Line(outcome.path); !line.empty()) Say(line);
  }
  WriteRankSummary(outcome);
  if (WIFSIGNALED(outcome.wait_status)) collector::DieBySignal(WTERMSIG(outcome.wait_status));
  return WEXITSTATUS(outcome.wait_status);
}

}  // namespace

int RunRecord(std::span<const std::string> words) {
  return RunParsed(RecordHelp(), Arguments::ParseWithCommand(RecordHelp(), words), RecordVerb);
}

}  // namespace vramscope::cli
