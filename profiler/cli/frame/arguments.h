// SPDX-License-Identifier: Apache-2.0
// The arguments of a verb and its help, from one table, so that what --help says is what is understood.
//
//   vramscope record: record what a command allocates
//
//     vramscope record -- python train.py              two examples first: most readers look for no more
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
  const char* value;  // what the help calls its value; nullptr = a switch
  const char* help;   // one sentence; '\n' begins a new line
};

struct Example {
  const char* command;
  const char* meaning;
};

struct VerbHelp {
  const char* verb;
  const char* summary;
  const char* usage;  // after "vramscope "
  std::vector<Example> examples;
  std::vector<Option> options;  // --color, --quiet and --help are added
  // The verb speaks of a device of a process: --device, --process and --rank are added (device_request.h).
  bool selects = false;
};

// What the verb understands: its own options, then those that every verb has.
std::vector<Option> AllOptions(const VerbHelp& help);

class Arguments {
 public:
  // An error names the argument and the nearest option that exists.
  static Result<Arguments> Parse(const VerbHelp& help, std::span<const std::string> arguments);
  // The same for verbs that end in a command: the first word that is no option begins it, or the word after
  // "--"; it is in positionals() as it is, with all its own options.
  static Result<Arguments> ParseWithCommand(const VerbHelp& help, std::span<const std::string> arguments);

  [[nodiscard]] bool Has(std::string_view option) const;
  // The last value given; `fallback` when the option was not given.
  [[nodiscard]] std::string Get(std::string_view option, std::string_view fallback = {}) const;
  // All values given, in order.
  [[nodiscard]] std::vector<std::string> All(std::string_view option) const;
  [[nodiscard]] const std::vector<std::string>& positionals() const { return positionals_; }
  [[nodiscard]] bool help_wanted() const { return Has("help"); }

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
  std::vector<std::string> positionals_;
};

// The value of an option that was given, as a number; an error names the option.
Result<uint32_t> NumberOf(const Arguments& arguments, std::string_view option);

std::string HelpText(const VerbHelp& help, const Terminal& terminal);

// The candidate that differs from `word` by the fewest typing mistakes; nullopt when none is near.
std::optional<std::string> Nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace vramscope::cli
