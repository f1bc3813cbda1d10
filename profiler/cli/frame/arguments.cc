// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/frame/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <cmath>
#include <numeric>

#include "profiler/text/number.h"

namespace vramscope::cli {
namespace {

namespace po = boost::program_options;

// If a verb's own table has one of these, that definition applies.
constexpr Option kCommon[] = {
    {"color", '\0', "auto|always|never", "Use colors. auto: on a terminal, unless NO_COLOR is set."},
    {"quiet", 'q', nullptr, "Print only the answer and errors, no progress and no notes."},
    {"help", 'h', nullptr, "Show this help."},
};

constexpr Option kSelection[] = {
    {"device", '\0', "NAME",
     "cuda:0, cpu, ... Default: the device whose failed allocation ended the run, else the one with the "
     "highest\npeak."},
    {"process", '\0', "PID", "Use the process with this PID."},
    {"rank", '\0', "N|N..M|all|worst",
     "Use the process with this rank: the RANK in its environment, or its index among the processes that use "
     "GPUs.\n"
     "Several ranks: one answer each. FILE@rank:N chooses a rank for one FILE."},
};

po::options_description Describe(const VerbHelp& help) {
  po::options_description description;
  for (const Option& option : AllOptions(help)) {
    const std::string names =
        option.letter != '\0' ? fmt::format("{},{}", option.name, option.letter) : option.name;
    if (option.value != nullptr) {
      description.add_options()(names.c_str(), po::value<std::vector<std::string>>()->composing());
    } else {
      description.add_options()(names.c_str(), po::value<bool>()->zero_tokens()->implicit_value(true));
    }
  }
  return description;
}

std::string UnknownOption(const VerbHelp& help, const std::string& given) {
  std::vector<std::string> names;
  for (const Option& option : AllOptions(help)) names.push_back(fmt::format("--{}", option.name));
  const auto nearest = Nearest(given, names);
  return nearest ? fmt::format("{} has no option {}. Did you mean {}?", help.verb, Printable(given), *nearest)
                 : fmt::format("{} has no option {}. See vramscope {} --help.", help.verb, Printable(given),
                               help.verb);
}

// True if `word` is an option whose value is the next word: "--name" or "-x", but not "--name=value".
bool TakesNextWord(const VerbHelp& help, std::string_view word) {
  const std::vector<Option> options = AllOptions(help);
  return std::any_of(options.begin(), options.end(), [&](const Option& option) {
    if (option.value == nullptr) return false;
    return word == fmt::format("--{}", option.name) ||
           (option.letter != '\0' && word == fmt::format("-{}", option.letter));
  });
}

// The index at which the command begins: after our own options.
size_t BeginOfCommand(const VerbHelp& help, std::span<const std::string> arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word == "--" || !word.starts_with('-')) return i;
    if (TakesNextWord(help, word)) ++i;
  }
  return arguments.size();
}

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, changed}));
    }
  }
  return row.back();
}

}  // namespace

std::vector<Option> AllOptions(const VerbHelp& help) {
  std::vector<Option> options = help.options;
  const auto add = [&](const Option& common) {
    const bool own = std::any_of(help.options.begin(), help.options.end(), [&](const Option& option) {
      return std::string_view(option.name) == common.name;
    });
    if (!own) options.push_back(common);
  };
  if (help.subject != VerbSubject::kOther) std::for_each(std::begin(kSelection), std::end(kSelection), add);
  std::for_each(std::begin(kCommon), std::end(kCommon), add);
  return options;
}

Result<Arguments> Arguments::Parse(const VerbHelp& help, std::span<const std::string> given) {
  const po::options_description description = Describe(help);
  Arguments result;
  try {
    po::command_line_parser parser(std::vector<std::string>(given.begin(), given.end()));
    // No guessing of abbreviations: a script that relies on one would break when an option is added.
    parser.options(description)
        .style(po::command_line_style::unix_style & ~po::command_line_style::allow_guessing);
    for (const po::option& option : parser.run().options) {
      if (option.position_key >= 0) {
        result.positionals_.insert(result.positionals_.end(), option.value.begin(), option.value.end());
      } else {
        auto& values = result.values_[option.string_key];
        values.insert(values.end(), option.value.begin(), option.value.end());
      }
    }
  } catch (const po::unknown_option& unknown) {
    return Error{UnknownOption(help, unknown.get_option_name())};
  } catch (const po::error_with_option_name& wrong) {
    return Error{
        fmt::format("{} needs a value and has none, or takes no value and has one. See vramscope {} --help.",
                    Printable(wrong.get_option_name()), help.verb)};
  } catch (const po::error& wrong) {
    return Error{fmt::format("{}. See vramscope {} --help.", Printable(wrong.what()), help.verb)};
  }
  return result;
}

Result<Arguments> Arguments::ParseWithCommand(const VerbHelp& help, std::span<const std::string> given) {
  const size_t begin = BeginOfCommand(help, given);
  Arguments result = VRAMSCOPE_TRY(Parse(help, given.first(begin)));
  const size_t first = begin < given.size() && given[begin] == "--" ? begin + 1 : begin;
  const auto command = given.subspan(first);
  result.positionals_.assign(command.begin(), command.end());
  return result;
}

bool Arguments::Has(std::string_view option) const { return values_.find(option) != values_.end(); }

std::string Arguments::Get(std::string_view option, std::string_view fallback) const {
  const auto found = values_.find(option);
  return found == values_.end() || found->second.empty() ? std::string(fallback) : found->second.back();
}

std::vector<std::string> Arguments::All(std::string_view option) const {
  const auto found = values_.find(option);
  return found == values_.end() ? std::vector<std::string>{} : found->second;
}

Arguments Arguments::With(const std::string& option, const std::string& value) const {
  Arguments changed = *this;
  changed.values_[option] = {value};
  return changed;
}

Arguments Arguments::Without(const std::string& option) const {
  Arguments changed = *this;
  changed.values_.erase(option);
  return changed;
}

Arguments Arguments::WithFirst(const std::string& positional) const {
  Arguments changed = *this;
  changed.positionals_.front() = positional;
  return changed;
}

Result<uint32_t> NumberOf(const Arguments& arguments, std::string_view option) {
  const std::string text = arguments.Get(option);
  if (const auto number = text::ParseNumber<uint32_t>(text)) return *number;
  return Error{fmt::format("--{} needs a number, not \"{}\".", option, Printable(text))};
}

Result<double> ShareOf(std::string_view option, std::string_view text) {
  const auto percent =
      text.ends_with('%') ? text::ParseNumber<double>(text.substr(0, text.size() - 1)) : std::nullopt;
  if (percent && std::isfinite(*percent) && *percent >= 0) return *percent / 100;
  return Error{fmt::format("--{} needs a percentage like 15%, not \"{}\".", option, Printable(text))};
}

std::string HelpText(const VerbHelp& help, const Terminal& terminal) {
  std::string text = fmt::format(
      "{}: {}\n\n", terminal.Paint(fmt::format("vramscope {}", help.verb), Ink::Bold()), help.summary);
  Table examples({Align::kLeft, Align::kLeft});
  for (const Example& example : help.examples) {
    examples.AddRow(
        {terminal.Paint(example.command, Ink::Good()), terminal.Paint(example.meaning, Ink::Dim())});
  }
  text += examples.ToString() + fmt::format("\nUsage: vramscope {}\n\n", help.usage);
  Table options({Align::kLeft, Align::kLeft});
  for (const Option& option : AllOptions(help)) {
    const std::string letter = option.letter != '\0' ? fmt::format("-{}, ", option.letter) : "    ";
    const std::string value = option.value != nullptr ? fmt::format(" {}", option.value) : "";
    std::string_view rest = option.help;
    for (std::string name = fmt::format("{}--{}{}", letter, option.name, value); !rest.empty();
         name.clear()) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      options.AddRow({name, std::string(line)});
      rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    }
  }
  return text + options.ToString();
}

std::optional<std::string> Nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::optional<std::string> best;
  size_t best_distance = std::max<size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const size_t distance = EditDistance(word, candidate);
    if (distance >= best_distance) continue;
    best = candidate;
    best_distance = distance;
  }
  return best;
}

}  // namespace vramscope::cli
