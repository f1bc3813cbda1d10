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
  std::vector<std::string> words;  // for kWords
};

// "auto|cpu|cuda": these words. FILE, OUT: a file. FOLDER: a folder. Anything else cannot be completed.
[[nodiscard]] Completed CompletedValue(const Option& option);

enum class Operands : uint8_t { kNone, kFiles, kCommand, kWords };
// Derived from the last word of the verb's usage line.
[[nodiscard]] Operands OperandsOf(const VerbHelp& help);
// The possible operands, if the kind is kWords.
[[nodiscard]] std::vector<std::string> OperandWords(const VerbHelp& help);

}  // namespace vramscope::cli
