// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <system_error>
#include <vector>

#include "profiler/cli/frame/rank_request.h"
#include "profiler/cli/frame/verb.h"
#include "profiler/text/failure.h"

namespace vramscope::cli {
namespace {

constexpr std::array kAnsweringVerbs = {
    Verb{"info", "what is in a trace or snapshot: processes, devices, coverage, losses", RunInfo, InfoHelp},
    Verb{"report", "where the memory of a run went", RunReport, ReportHelp},
    Verb{"explain", "why nvidia-smi shows more than PyTorch", RunExplain, ExplainHelp},
    Verb{"frag", "how much memory is reserved but not used, why, and which tensors pin it", RunFrag,
         FragHelp},
    Verb{"oom", "why a request ran out of memory, with proof, and what to change", RunOom, OomHelp},
    Verb{"replay", "replay a run on a model of its allocator, with the same or other settings", RunReplay,
         ReplayHelp},
    Verb{"whatif", "how much memory a changed program would need: batch, optimizer, checkpointing, ...",
         RunWhatif, WhatifHelp},
    Verb{"plan", "the cheapest changes that make a recorded program fit", RunPlan, PlanHelp},
    Verb{"pack", "the least memory that any allocator would need", RunPack, PackHelp},
    Verb{"leaks", "what grows from step to step, and what keeps it", RunLeaks, LeaksHelp},
    Verb{"diff", "what differs between two runs, and what was changed", RunDiff, DiffHelp},
    Verb{"check", "check the memory of a run against rules, for CI", RunCheck, CheckHelp},
    Verb{"convert", "convert a trace or snapshot to the format of another tool", RunConvert, ConvertHelp},
    Verb{"completion", "print a completion script for a shell", RunCompletion, CompletionHelp},
    Verb{"man", "print or install the manual pages", RunMan, ManHelp},
};

std::string Overview(const Terminal& terminal) {
  std::string text = fmt::format("{}: where the memory of a training run goes\n\n",
                                 terminal.Paint("vramscope", Ink::Bold()));
  Table examples({Align::kLeft, Align::kLeft});
  examples.AddRow({terminal.Paint("vramscope record -- python train.py", Ink::Good()),
                   terminal.Paint("record a run, with no change to it", Ink::Dim())});
  examples.AddRow({terminal.Paint("vramscope report run.vms", Ink::Good()),
                   terminal.Paint("show where its memory went", Ink::Dim())});
  text += examples.ToString() + "\nVerbs:\n";
  Table verbs({Align::kLeft, Align::kLeft});
  for (const Verb& verb : Verbs()) verbs.AddRow({verb.name, verb.summary});
  return text + verbs.ToString() +
         "\nvramscope VERB --help explains a verb; vramscope --version prints the version.\n";
}

int UnknownVerb(const std::string& word) {
  std::vector<std::string> names;
  for (const Verb& verb : Verbs()) names.emplace_back(verb.name);
  const auto nearest = Nearest(word, names);
  return Fail(
      UsageError(nearest ? fmt::format("there is no verb '{}'. Did you mean '{}'?", Printable(word), *nearest)
                         : fmt::format("there is no verb '{}'. See vramscope --help.", Printable(word))));
}

int RunVerbOf(const std::vector<std::string>& words) {
  const std::string first = words.empty() ? "" : words.front();
  if (first.empty() || first == "--help" || first == "-h" || first == "help") {
    std::FILE* stream = first.empty() ? stderr : stdout;
    Print(Overview(Terminal::For(fileno(stream), ColorMode::kAuto)), stream);
    return first.empty() ? kBadInput : kDone;
  }
  if (first == "--version") {
    fmt::print("vramscope {}\n", VRAMSCOPE_VERSION);
    return kDone;
  }
  const auto verbs = Verbs();
  const auto verb = std::find_if(verbs.begin(), verbs.end(), [&](const Verb& v) { return first == v.name; });
  // A file without a verb gets a report, which most people want first.
  if (std::error_code failed; verb == verbs.end() && std::filesystem::is_regular_file(first, failed))
    return RunReport(words);
  if (verb == verbs.end()) return UnknownVerb(first);
  return verb->run(std::span(words).subspan(1));
}

}  // namespace

std::span<const Verb> AnsweringVerbs() { return kAnsweringVerbs; }

int RunCommandLine(const std::vector<std::string>& words) {
  try {
    const int code = RunVerbOf(words);
    // If stdout is a file on a full disk, that must not count as success.
    if (std::fflush(stdout) != 0 && code == kDone)
      return Fail({"the output could not be written. Free some space, or write to another file."});
    return code;
  } catch (const std::exception& failure) {
    return Fail(CannotJudge(text::SentenceOf(failure, fmt::format("vramscope {}", fmt::join(words, " ")))));
  }
}

int RunParsed(const VerbHelp& help, const Result<Arguments>& arguments,
              Result<int> (*run)(const Arguments& arguments, const Terminal& terminal)) {
  if (!arguments.ok()) return Fail(arguments.error());
  const Result<ColorMode> color = ParseColorMode(arguments->Get("color", "auto"));
  if (!color.ok()) return Fail(color.error());
  const Terminal terminal = Terminal::For(fileno(stdout), *color);
  if (arguments->help_wanted()) {
    Print(HelpText(help, terminal));
    return kDone;
  }
  const Result<int> code = help.subject != VerbSubject::kOther ? RunForRanks(help, *arguments, terminal, run)
                                                               : run(*arguments, terminal);
  return code.ok() ? *code : Fail(code.error());
}

int Fail(const Error& error) {
  Say(error.sentence);
  return error.kind == ErrorKind::kCannotJudge ? kCannotJudge : kBadInput;
}

void Say(const std::string& sentence) {
  std::fputs(fmt::format("vramscope: {}\n", Printable(sentence)).c_str(), stderr);
}

}  // namespace vramscope::cli
