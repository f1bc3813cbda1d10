// SPDX-License-Identifier: Apache-2.0
// The verbs of the `vramscope` command (`record` in `vramscope record`) and what they share. Each verb has
// one source file, and one row in the table of verbs.cc or record/recording_verbs.cc.
//
// Conventions of every verb:
//   --help   two examples before the options
//   --json   one document with "schema_version" and the keys of docs/json.md
//   exit     0 = done, 1 = the answer is no, 2 = bad usage or input, 3 = could not judge
//   errors   one sentence on stderr, prefixed "vramscope: "
#pragma once

#include <span>
#include <string>
#include <vector>

#include "profiler/cli/frame/arguments.h"
#include "profiler/cli/frame/terminal.h"

namespace vramscope::cli {

enum ExitCode : int { kDone = 0, kNo = 1, kBadInput = 2, kCannotJudge = 3 };

// Runs a verb and returns the exit code. `arguments`: the command line after the verb.
using RunVerb = int (*)(std::span<const std::string> arguments);

struct Verb {
  const char* name;
  const char* summary;  // one line for `vramscope --help`
  RunVerb run;
  const VerbHelp& (*help)();
};

// Returns all verbs of this program, in the order of `vramscope --help`.
std::span<const Verb> Verbs();
// Returns the verbs that only read files. They also exist on Windows and macOS.
std::span<const Verb> AnsweringVerbs();

// Runs the whole program and returns the exit code. `words`: the command line after the program's name.
// Prints an error if there is an exception or if the output cannot be written.
int RunCommandLine(const std::vector<std::string>& words);

int RunRecord(std::span<const std::string> arguments);
int RunDump(std::span<const std::string> arguments);
int RunStart(std::span<const std::string> arguments);
int RunStop(std::span<const std::string> arguments);
int RunAttach(std::span<const std::string> arguments);
int RunDryrun(std::span<const std::string> arguments);
int RunTry(std::span<const std::string> arguments);
int RunInfo(std::span<const std::string> arguments);
int RunReport(std::span<const std::string> arguments);
int RunExplain(std::span<const std::string> arguments);
int RunFrag(std::span<const std::string> arguments);
int RunOom(std::span<const std::string> arguments);
int RunReplay(std::span<const std::string> arguments);
int RunWhatif(std::span<const std::string> arguments);
int RunPlan(std::span<const std::string> arguments);
int RunPack(std::span<const std::string> arguments);
int RunLeaks(std::span<const std::string> arguments);
int RunFleet(std::span<const std::string> arguments);
int RunTop(std::span<const std::string> arguments);
int RunDiff(std::span<const std::string> arguments);
int RunCheck(std::span<const std::string> arguments);
int RunConvert(std::span<const std::string> arguments);
int RunView(std::span<const std::string> arguments);
int RunServe(std::span<const std::string> arguments);
int RunMcp(std::span<const std::string> arguments);
int RunCompletion(std::span<const std::string> arguments);
int RunMan(std::span<const std::string> arguments);

// The options of each verb: the source of --help, shell completion and the manual pages.
const VerbHelp& RecordHelp();
const VerbHelp& DumpHelp();
const VerbHelp& StartHelp();
const VerbHelp& StopHelp();
const VerbHelp& AttachHelp();
const VerbHelp& DryrunHelp();
const VerbHelp& TryHelp();
const VerbHelp& InfoHelp();
const VerbHelp& ReportHelp();
const VerbHelp& ExplainHelp();
const VerbHelp& FragHelp();
const VerbHelp& OomHelp();
const VerbHelp& ReplayHelp();
const VerbHelp& WhatifHelp();
const VerbHelp& PlanHelp();
const VerbHelp& PackHelp();
const VerbHelp& LeaksHelp();
const VerbHelp& FleetHelp();
const VerbHelp& TopHelp();
const VerbHelp& DiffHelp();
const VerbHelp& CheckHelp();
const VerbHelp& ConvertHelp();
const VerbHelp& ViewHelp();
const VerbHelp& ServeHelp();
const VerbHelp& McpHelp();
const VerbHelp& CompletionHelp();
const VerbHelp& ManHelp();

// Handles parsed arguments, the same way for every verb. Prints the help if --help is given; otherwise calls
// `run`. Prints the error if `arguments` or the result of `run` is an error. Returns the exit code.
int RunParsed(const VerbHelp& help, const Result<Arguments>& arguments,
              Result<int> (*run)(const Arguments& arguments, const Terminal& terminal));

// Prints "vramscope: <sentence>" to stderr. A closed stderr is not an error.
void Say(const std::string& sentence);
// Prints the error like Say, and returns the exit code for its kind.
int Fail(const Error& error);

}  // namespace vramscope::cli
