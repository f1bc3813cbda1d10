// SPDX-License-Identifier: Apache-2.0
// The possible values of options and operands, for shell completion. They are parsed from the help texts.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/cli/frame/arguments.h"

namespace vramscope::cli {

// Fails if the value of `option` is not one of `choices`.
Status CheckChoice(const char* option, const std::string& value,
                   std::initializer_list<std::string_view> choices);

struct Completed {
  enum class Kind : uint8_t { kOther, kFile, kFolder, kWords } kind = Kind::kOther;
  std::vector<std::string> words;  // the possible values, for kWords
};

// Returns how the shell completes the value of `option`. If the help text is "auto|cpu|cuda", the result is
// kWords with these words. FILE and OUT give kFile, FOLDER gives kFolder, and all other texts give kOther: no
// completion.
[[nodiscard]] Completed CompletedValue(const Option& option);

enum class Operands : uint8_t { kNone, kFiles, kCommand, kWords };
// Returns the kind of the verb's operands, from the last word of the verb's usage line.
[[nodiscard]] Operands OperandsOf(const VerbHelp& help);
// Returns the possible operands of a verb with kWords.
[[nodiscard]] std::vector<std::string> OperandWords(const VerbHelp& help);

}  // namespace vramscope::cli
