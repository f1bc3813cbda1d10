// SPDX-License-Identifier: Apache-2.0
// A verb's arguments and its help, from one table.
//
//   vramscope record: record what a command allocates
//
//     vramscope record -- python train.py              two examples first
//     vramscope record --depth all -- ./train
//
//   Usage: vramscope record [options] -- COMMAND...
//     -o, --output FILE   ...
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/cli/frame/terminal.h"
#include "trace_format/result.h"

namespace vramscope::cli {

struct Option {
  const char* name;   // without dashes
  char letter;        // '\0' = only the long form
  const char* value;  // placeholder of its value in the help; nullptr = a switch
  const char* help;   // one sentence; '\n' starts a new line
};

struct Example {
  const char* command;
  const char* meaning;
};

enum class VerbSubject {
  kOther,          // the verb does not report on one device of one process
  kRun,            // one file, or one rank of a job: several files or a folder (job_subject.h)
  kEveryRank,      // one file, or all ranks of a job
  kRunAndCommand,  // one file or a folder; the words after it are a command
  kRunAndOutput,   // one file, and the file to write
  kTwoRuns,        // two files, each of which may end in "@rank:N"
};

struct VerbHelp {
  const char* verb;
  const char* summary;
  const char* usage;  // after "vramscope "
  std::vector<Example> examples;
  std::vector<Option> options;  // --color, --quiet and --help are added
  // If not kOther, --device, --process and --rank are added too (device_request.h).
  VerbSubject subject = VerbSubject::kOther;
};

// The verb's own options, then the options of every verb.
std::vector<Option> AllOptions(const VerbHelp& help);

class Arguments {
 public:
  // The error names the argument and the most similar option.
  static Result<Arguments> Parse(const VerbHelp& help, std::span<const std::string> arguments);
  // For verbs that end in a command. The command starts at the first word that is not an option, or after
  // "--". positionals() contains the command.
  static Result<Arguments> ParseWithCommand(const VerbHelp& help, std::span<const std::string> arguments);

  [[nodiscard]] bool Has(std::string_view option) const;
  // The last value given, or `fallback`.
  [[nodiscard]] std::string Get(std::string_view option, std::string_view fallback = {}) const;
  [[nodiscard]] std::vector<std::string> All(std::string_view option) const;
  [[nodiscard]] const std::vector<std::string>& positionals() const { return positionals_; }
  [[nodiscard]] bool help_wanted() const { return Has("help"); }

  // Copies with one change. With: `option` has only this value. Without: `option` is removed. WithFirst:
  // replaces the first positional argument.
  [[nodiscard]] Arguments With(const std::string& option, const std::string& value) const;
  [[nodiscard]] Arguments Without(const std::string& option) const;
  [[nodiscard]] Arguments WithFirst(const std::string& positional) const;

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
  std::vector<std::string> positionals_;
};

// The option must have been given. The error names the option.
Result<uint32_t> NumberOf(const Arguments& arguments, std::string_view option);
// "15%" as 0.15; never negative. The error names the option.
Result<double> ShareOf(std::string_view option, std::string_view text);

std::string HelpText(const VerbHelp& help, const Terminal& terminal);

// The candidate most similar to `word`; nullopt if none is near.
std::optional<std::string> Nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace vramscope::cli
