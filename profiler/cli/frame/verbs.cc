// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>

#include "profiler/cli/frame/rank_request.h"
#include "profiler/cli/frame/verb.h"
#include "profiler/collector/launch/signal_relay.h"

namespace vramscope::cli {
namespace {

constexpr std::array kVerbs = {
    Verb{"record", "record what a command allocates", RunRecord, RecordHelp},
    Verb{"attach", "record a running process for a while", RunAttach, AttachHelp},
    Verb{"start", "start recording a process that waits (record --dormant)", RunStart, StartHelp},
    Verb{"stop", "end a recording that start began", RunStop, StopHelp},
    Verb{"dump", "write the last steps of a running recording", RunDump, DumpHelp},
    Verb{"dryrun", "run a command on a simulated GPU: does it fit, and how much memory does it need",
         RunDryrun, DryrunHelp},
    Verb{"try", "run a command with a change that its code does not have, and compare", RunTry, TryHelp},
    Verb{"info", "what is in a trace or snapshot: processes, devices, coverage, losses", RunInfo, InfoHelp},
    Verb{"report", "where the memory of a run went", RunReport, ReportHelp},
    Verb{"explain", "why nvidia-smi shows more than PyTorch", RunExplain, ExplainHelp},
    Verb{"frag", "how much memory is reserved but not used, why, and which tensors pin it", RunFrag,
         FragHelp},
    Verb{"oom", "why a request ran out of memory, with proof, and what to change", RunOom, OomHelp},
    Verb{"replay", "replay a run on a model of PyTorch's allocator, also with other settings", RunReplay,
         ReplayHelp},
    Verb{"whatif", "how much memory a changed program would need: batch, optimizer, checkpointing, ...",
         RunWhatif, WhatifHelp},
    Verb{"plan", "the cheapest changes that make a recorded program fit", RunPlan, PlanHelp},
    Verb{"pack", "the least memory that any allocator would need", RunPack, PackHelp},
    Verb{"leaks", "what grows from step to step, and what keeps it", RunLeaks, LeaksHelp},
    Verb{"fleet", "all ranks of a job: which stand out, and why", RunFleet, FleetHelp},
    Verb{"top", "the ranks of running recordings: memory now, growth, steps until it runs out", RunTop,
         TopHelp},
    Verb{"diff", "what differs between two runs, and what was changed", RunDiff, DiffHelp},
    Verb{"check", "check the memory of a run against rules, for CI", RunCheck, CheckHelp},
    Verb{"convert", "convert a trace or snapshot to the format of another tool", RunConvert, ConvertHelp},
    Verb{"view", "see a run in a window: memory over time, every block at every moment", RunView, ViewHelp},
    Verb{"serve", "show runs of this machine in a browser, also over ssh", RunServe, ServeHelp},
    Verb{"mcp", "answer an agent's questions about the runs of a folder", RunMcp, McpHelp},
    Verb{"completion", "print a completion script for a shell", RunCompletion, CompletionHelp},
    Verb{"man", "print or install the manual pages", RunMan, ManHelp},
};

}  // namespace

std::span<const Verb> Verbs() { return kVerbs; }

int RunParsed(const VerbHelp& help, const Result<Arguments>& arguments,
              Result<int> (*run)(const Arguments& arguments, const Terminal& terminal)) {
  if (!arguments.ok()) return Fail(arguments.error());
  const Result<ColorMode> color = ParseColorMode(arguments->Get("color", "auto"));
  if (!color.ok()) return Fail(color.error());
  const Terminal terminal = Terminal::For(STDOUT_FILENO, *color);
  if (arguments->help_wanted()) {
    Print(HelpText(help, terminal));
    return kDone;
  }
  const Result<int> code =
      help.selects ? RunForRanks(help, *arguments, terminal, run) : run(*arguments, terminal);
  return code.ok() ? *code : Fail(code.error());
}

Result<pid_t> PidFrom(const Arguments& arguments, const std::string& example) {
  if (arguments.positionals().size() != 1)
    return Error{fmt::format("{} needs the id of one process: vramscope {}",
                             example.substr(0, example.find(' ')), example)};
  const std::string& text = arguments.positionals().front();
  uint64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || number == 0)
    return Error{fmt::format("'{}' is not a process id. Find it with: pgrep -af python", Printable(text))};
  if (number > INT32_MAX) return Error{fmt::format("There is no process {}.", number)};
  return static_cast<pid_t>(number);
}

int Fail(const Error& error) {
  Say(error.sentence);
  return error.kind == ErrorKind::kCannotJudge ? kCannotJudge : kBadInput;
}

int ExitAsCommand(int wait_status) {
  std::fflush(nullptr);  // a signal would discard buffered output
  if (WIFSIGNALED(wait_status)) collector::DieBySignal(WTERMSIG(wait_status));
  return WEXITSTATUS(wait_status);
}

void Say(const std::string& sentence) {
  std::fputs(fmt::format("vramscope: {}\n", Printable(sentence)).c_str(), stderr);
}

}  // namespace vramscope::cli
