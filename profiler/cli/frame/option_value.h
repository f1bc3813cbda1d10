// SPDX-License-Identifier: Apache-2.0
// What the value of an option and the operands of a verb are, for shells that complete them: read off the
// words with which the help shows them ("auto|always|never", "FILE"), so that there is no second table.
#pragma once

#include <string>
#include <vector>

#include "profiler/cli/frame/arguments.h"

namespace vramscope::cli {

struct Completed {
  enum class Kind : uint8_t { kOther, kFile, kFolder, kWords } kind = Kind::kOther;
  std::vector<std::string> words;  // of kWords
};

// "auto|cpu|cuda": these words; FILE, OUT: a file; FOLDER; anything else cannot be completed.
[[nodiscard]] Completed CompletedValue(const Option& option);

enum class Operands : uint8_t { kNone, kFiles, kCommand, kWords };
// What comes behind the options of a verb: its usage's last word says it.
[[nodiscard]] Operands OperandsOf(const VerbHelp& help);
// Of kWords.
[[nodiscard]] std::vector<std::string> OperandWords(const VerbHelp& help);

}  // namespace vramscope::cli
