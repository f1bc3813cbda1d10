// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/frame/option_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "profiler/cli/frame/verb.h"

namespace vramscope::cli {
namespace {

// The parts of "a|b|c" that are literal words; "N" in "N|all" is not.
std::vector<std::string> WordsOf(std::string_view text) {
  std::vector<std::string> words;
  if (text.find('|') == std::string_view::npos) return words;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find('|'));
    const bool literal = !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    });
    if (literal) words.emplace_back(word);
    text.remove_prefix(std::min(text.size(), word.size() + 1));
  }
  return words;
}

std::string_view LastWord(const VerbHelp& help) {
  const std::string_view usage = help.usage;
  return usage.substr(usage.find_last_of(' ') + 1);
}

}  // namespace

Status CheckChoice(const char* option, const std::string& value,
                   std::initializer_list<std::string_view> choices) {
  if (std::find(choices.begin(), choices.end(), value) != choices.end()) return {};
  std::string listed;
  for (const std::string_view choice : choices)
    listed += fmt::format("{}{}", listed.empty() ? "" : ", ", choice);
  return Error{fmt::format("--{} must be one of {}, not '{}'.", option, listed, Printable(value))};
}

Completed CompletedValue(const Option& option) {
  const std::string_view value = option.value == nullptr ? "" : option.value;
  if (value == "FILE" || value == "OUT") return {Completed::Kind::kFile, {}};
  if (value == "FOLDER") return {Completed::Kind::kFolder, {}};
  std::vector<std::string> words = WordsOf(value);
  if (words.empty()) return {};
  return {Completed::Kind::kWords, std::move(words)};
}

Operands OperandsOf(const VerbHelp& help) {
  const std::string_view last = LastWord(help);
  if (last == "COMMAND...") return Operands::kCommand;
  if (last == "[VERB]" || !WordsOf(last).empty()) return Operands::kWords;
  return last == "PID" ? Operands::kNone : Operands::kFiles;
}

std::vector<std::string> OperandWords(const VerbHelp& help) {
  if (LastWord(help) != "[VERB]") return WordsOf(LastWord(help));
  std::vector<std::string> names;
  for (const Verb& verb : Verbs()) names.emplace_back(verb.name);
  return names;
}

}  // namespace vramscope::cli
