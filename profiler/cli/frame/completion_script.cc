// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/frame/completion_script.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

#include "profiler/cli/frame/option_value.h"

namespace vramscope::cli {
namespace {

std::string VerbNames(std::span<const Verb> verbs) {
  std::vector<std::string> names;
  for (const Verb& verb : verbs) names.emplace_back(verb.name);
  return fmt::format("{}", fmt::join(names, " "));
}

// The first line: shells display one line.
std::string_view FirstLine(const char* help) {
  const std::string_view text = help;
  return text.substr(0, text.find('\n'));
}

// `text` for use between single quotes; `close_open` is how the shell writes a quote inside them.
std::string Quoted(std::string_view text, std::string_view close_open) {
  std::string quoted;
  for (const char c : text) quoted += c == '\'' ? std::string(close_open) : std::string(1, c);
  return quoted;
}

// --- bash

constexpr const char* kBashHead =
    R"bash(# Completion of vramscope for bash, as written by: vramscope completion bash
_vramscope_files() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen "$1" -- "$word")
}
_vramscope_words() {
  mapfile -t COMPREPLY < <(compgen -W "$1" -- "$word")
}
# $1: the place of the recorded command among the words.
_vramscope_command() {
  if declare -F _command_offset >/dev/null; then
    _command_offset "$1"
  elif ((COMP_CWORD == $1)); then
    mapfile -t COMPREPLY < <(compgen -c -- "$word")
  else
    _vramscope_files -f
  fi
}
_vramscope() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]}
  local options='' valued='' operands='files' words='' i
  COMPREPLY=()
  # --color=al comes as three words.
  if [[ $word == = ]]; then
    word=''
  elif [[ $before == = ]]; then
    before=${COMP_WORDS[COMP_CWORD-2]}
  fi
)bash";

constexpr const char* kBashTail =
    R"bash(  if [[ $operands == command ]]; then
    for ((i = 2; i < COMP_CWORD; ++i)); do
      if [[ ${COMP_WORDS[i]} == -- ]]; then
        _vramscope_command $((i + 1))
        return
      elif [[ ${COMP_WORDS[i]} != -* ]]; then
        _vramscope_command "$i"
        return
      elif [[ $valued == *" ${COMP_WORDS[i]} "* ]]; then
        [[ ${COMP_WORDS[i+1]} == = ]] && ((++i))
        ((++i))
      fi
    done
  fi
  if [[ $valued == *" $before "* ]]; then
    case $verb/$before in
)bash";

constexpr const char* kBashEnd = R"bash(    esac
  elif [[ $word == -* ]]; then
    _vramscope_words "$options"
  else
    case $operands in
      files) _vramscope_files -f ;;
      command) _vramscope_command "$COMP_CWORD" ;;
      words) _vramscope_words "$words" ;;
    esac
  fi
}
complete -F _vramscope vramscope
)bash";

// "--output -o"
std::string Names(const Option& option) {
  return option.letter == '\0' ? fmt::format("--{}", option.name)
                               : fmt::format("--{} -{}", option.name, option.letter);
}

std::string BashVerb(const Verb& verb) {
  const VerbHelp& help = verb.help();
  std::vector<std::string> options;
  std::string valued = " ";
  for (const Option& option : AllOptions(help)) {
    options.push_back(fmt::format("--{}", option.name));
    if (option.value != nullptr) valued += Names(option) + " ";
  }
  std::string text = fmt::format("    {})\n      options='{}'\n      valued='{}'\n", verb.name,
                                 fmt::join(options, " "), valued);
  switch (OperandsOf(help)) {
    case Operands::kFiles:
      break;
    case Operands::kCommand:
      text += "      operands='command'\n";
      break;
    case Operands::kWords:
      text += fmt::format("      operands='words' words='{}'\n", fmt::join(OperandWords(help), " "));
      break;
    case Operands::kNone:
      text += "      operands='none'\n";
      break;
  }
  return text + "      ;;\n";
}

std::string BashValues(const Verb& verb) {
  std::string text;
  for (const Option& option : AllOptions(verb.help())) {
    const Completed value = CompletedValue(option);
    if (value.kind == Completed::Kind::kOther) continue;
    std::string pattern = fmt::format("{}/--{}", verb.name, option.name);
    if (option.letter != '\0') pattern += fmt::format(" | {}/-{}", verb.name, option.letter);
    const std::string action = value.kind == Completed::Kind::kFile ? "_vramscope_files -f"
                               : value.kind == Completed::Kind::kFolder
                                   ? "_vramscope_files -d"
                                   : fmt::format("_vramscope_words '{}'", fmt::join(value.words, " "));
    text += fmt::format("      {}) {} ;;\n", pattern, action);
  }
  return text;
}

// --- zsh

// Escapes text for zsh's _arguments: inside [...] and after a colon.
std::string ZshEscaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return Quoted(escaped, "'\\''");
}

std::string ZshOption(const Option& option) {
  const std::string meaning = ZshEscaped(FirstLine(option.help));
  std::string value;
  if (option.value != nullptr) {
    const Completed completed = CompletedValue(option);
    const std::string action = completed.kind == Completed::Kind::kFile     ? "_files"
                               : completed.kind == Completed::Kind::kFolder ? "_files -/"
                               : completed.kind == Completed::Kind::kWords
                                   ? fmt::format("({})", fmt::join(completed.words, " "))
                                   : " ";
    value = fmt::format(":{}:{}", ZshEscaped(option.value), action);
  }
  const char* const joined = option.value == nullptr ? "" : "=";
  std::string text = fmt::format(" \\\n        '*--{}{}[{}]{}'", option.name, joined, meaning, value);
  if (option.letter != '\0') text += fmt::format(" '*-{}[{}]{}'", option.letter, meaning, value);
  return text;
}

std::string ZshVerb(const Verb& verb) {
  const VerbHelp& help = verb.help();
  std::string text = fmt::format("    {})\n      _arguments -s -S", verb.name);
  for (const Option& option : AllOptions(help)) text += ZshOption(option);
  switch (OperandsOf(help)) {
    case Operands::kFiles:
      text += " \\\n        '*:file:_files'";
      break;
    case Operands::kCommand:
      text += " \\\n        '(-):command: _command_names -e' '*::argument: _normal'";
      break;
    case Operands::kWords:
      text += fmt::format(" \\\n        '1:word:({})'", fmt::join(OperandWords(help), " "));
      break;
    case Operands::kNone:
      text += " \\\n        '1:process id: '";
      break;
  }
  return text + "\n      ;;\n";
}

// --- fish

std::string FishOption(const Verb& verb, const Option& option) {
  std::string text =
      fmt::format("complete -c vramscope -n '__fish_seen_subcommand_from {}' -l {}", verb.name, option.name);
  if (option.letter != '\0') text += fmt::format(" -s {}", option.letter);
  if (option.value != nullptr) {
    const Completed value = CompletedValue(option);
    switch (value.kind) {
      case Completed::Kind::kFile:
        text += " -r -F";
        break;
      case Completed::Kind::kFolder:
        text += " -x -a '(__fish_complete_directories)'";
        break;
      case Completed::Kind::kWords:
        text += fmt::format(" -x -a '{}'", fmt::join(value.words, " "));
        break;
      case Completed::Kind::kOther:
        text += " -x";
        break;
    }
  }
  return text + fmt::format(" -d '{}'\n", Quoted(FirstLine(option.help), "\\'"));
}

std::string FishOperands(const Verb& verb) {
  const VerbHelp& help = verb.help();
  const std::string condition =
      fmt::format("complete -c vramscope -n '__fish_seen_subcommand_from {}'", verb.name);
  std::string valued;  // follows a lone "-"; otherwise fish would take "--output" for an option of its own
  for (const Option& option : AllOptions(help)) {
    if (option.value != nullptr) valued += " " + Names(option);
  }
  switch (OperandsOf(help)) {
    case Operands::kFiles:
      return condition + " -F\n";
    case Operands::kCommand:
      return fmt::format("{} -x -a '(__fish_complete_subcommand --fcs-skip=2 -{})'\n", condition, valued);
    case Operands::kWords:
      return fmt::format("{} -x -a '{}'\n", condition, fmt::join(OperandWords(help), " "));
    case Operands::kNone:
      break;
  }
  return "";
}

}  // namespace

std::string BashCompletion(std::span<const Verb> verbs) {
  std::string text = kBashHead;
  text += fmt::format(
      "  if ((COMP_CWORD == 1)); then\n    _vramscope_words '{} --help --version'\n    return\n  fi\n  case "
      "$verb in\n",
      VerbNames(verbs));
  for (const Verb& verb : verbs) text += BashVerb(verb);
  text += "    *) return ;;\n  esac\n";
  text += kBashTail;
  for (const Verb& verb : verbs) text += BashValues(verb);
  return text + kBashEnd;
}

std::string ZshCompletion(std::span<const Verb> verbs) {
  std::string text =
      "#compdef vramscope\n# Completion of vramscope for zsh, as written by: vramscope completion zsh\n"
      "_vramscope() {\n  if (( CURRENT == 2 )); then\n    local -a verbs=(\n";
  for (const Verb& verb : verbs)
    text += fmt::format("      '{}:{}'\n", verb.name, ZshEscaped(verb.help().summary));
  text +=
      "    )\n    _describe verb verbs\n    return\n  fi\n  shift words\n  (( CURRENT-- ))\n  case "
      "$words[1] in\n";
  for (const Verb& verb : verbs) text += ZshVerb(verb);
  // compinit reads the script as the body of a function; `eval` runs it as commands.
  return text +
         "  esac\n}\nif [[ $funcstack[1] == _vramscope ]]; then\n  _vramscope \"$@\"\nelse\n  compdef "
         "_vramscope vramscope\nfi\n";
}

std::string FishCompletion(std::span<const Verb> verbs) {
  std::string text =
      "# Completion of vramscope for fish, as written by: vramscope completion fish\n"
      "complete -c vramscope -f\n";
  for (const Verb& verb : verbs) {
    text += fmt::format("complete -c vramscope -n __fish_use_subcommand -a {} -d '{}'\n", verb.name,
                        Quoted(verb.help().summary, "\\'"));
    for (const Option& option : AllOptions(verb.help())) text += FishOption(verb, option);
    text += FishOperands(verb);
  }
  return text;
}

}  // namespace vramscope::cli
