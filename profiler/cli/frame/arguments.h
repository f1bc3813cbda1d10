// SPDX-License-Identifier: Apache-2.0
// Parses the arguments of a verb (`record` in `vramscope record`) and prints the verb's help. Both use one
// table of options (VerbHelp).
//
//   vramscope record: record what a command allocates
//
//     vramscope record -- python train.py              the help begins with two examples
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
  const char* value;  // placeholder for the option's value in the help; nullptr = the option has no value
  const char* help;   // one sentence; '\n' starts a new line
};

struct Example {
  const char* command;
  const char* meaning;
};

// What the positional arguments of a verb name.
enum class VerbSubject {
  kOther,          // anything else; the verb does not report on one device of one process
  kRun,            // one file; or several files or a folder, of which one rank is chosen (job_subject.h)
  kEveryRank,      // one file; or several files or a folder, of which all ranks are used
  kRunAndCommand,  // one file or folder, followed by the words of a command
  kRunAndOutput,   // one file to read, and one file to write
  kTwoRuns,        // two files; "@rank:N" after a name chooses a rank
};

struct VerbHelp {
  const char* verb;
  const char* summary;
  const char* usage;  // after "vramscope "
  std::vector<Example> examples;
  std::vector<Option> options;  // the verb's own options, without --color, --quiet and --help
  // If `subject` is not kOther, the verb also has --device, --process and --rank (device_request.h).
  VerbSubject subject = VerbSubject::kOther;
};

// Returns all options of a verb: its own, then --device, --process and --rank if it has them, then the
// options that every verb has.
std::vector<Option> AllOptions(const VerbHelp& help);

class Arguments {
 public:
  // The error names the wrong argument, and the most similar option if there is one.
  static Result<Arguments> Parse(const VerbHelp& help, std::span<const std::string> arguments);
  // Parses the arguments of a verb whose last arguments are a command. The command starts at the first word
  // that is not an option, or after "--". positionals() then contains the words of the command.
  static Result<Arguments> ParseWithCommand(const VerbHelp& help, std::span<const std::string> arguments);

  [[nodiscard]] bool Has(std::string_view option) const;
  // Returns the option's last value; `fallback` if the option is not given.
  [[nodiscard]] std::string Get(std::string_view option, std::string_view fallback = {}) const;
  // Returns all values of the option, in the order of the command line.
  [[nodiscard]] std::vector<std::string> All(std::string_view option) const;
  [[nodiscard]] const std::vector<std::string>& positionals() const { return positionals_; }
  [[nodiscard]] bool help_wanted() const { return Has("help"); }

  // Each returns a copy with one change. With: `option` has only the value `value`. Without: `option` is
  // removed. WithFirst: `positional` replaces the first positional argument.
  [[nodiscard]] Arguments With(const std::string& option, const std::string& value) const;
  [[nodiscard]] Arguments Without(const std::string& option) const;
  [[nodiscard]] Arguments WithFirst(const std::string& positional) const;

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
  std::vector<std::string> positionals_;
};

// Returns the value of `option` as a number. The option must be given. The error names the option.
Result<uint32_t> NumberOf(const Arguments& arguments, std::string_view option);
// Converts a percentage to a share: "15%" is 0.15. Negative values are an error. The error names the option.
Result<double> ShareOf(std::string_view option, std::string_view text);

std::string HelpText(const VerbHelp& help, const Terminal& terminal);

// Returns the candidate that is most similar to `word`; std::nullopt if no candidate is similar.
std::optional<std::string> Nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace vramscope::cli
