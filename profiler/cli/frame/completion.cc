// SPDX-License-Identifier: Apache-2.0
// `vramscope completion`: prints a script for shell completion.
#include <fmt/format.h>

#include "profiler/cli/frame/completion_script.h"
#include "profiler/cli/frame/verb.h"

namespace vramscope::cli {

const VerbHelp& CompletionHelp() {
  static const VerbHelp help = {
      "completion",
      "print a completion script for a shell",
      "completion bash|zsh|fish",
      {{"eval \"$(vramscope completion bash)\"", "in ~/.bashrc; for zsh in ~/.zshrc, after compinit"},
       {"vramscope completion fish > ~/.config/fish/completions/vramscope.fish", "install it for fish"}},
      {}};
  return help;
}

namespace {

Result<int> CompletionVerb(const Arguments& arguments, const Terminal&) {
  const std::string shell = arguments.positionals().size() == 1 ? arguments.positionals().front() : "";
  std::string text;
  if (shell == "bash") text = BashCompletion(Verbs());
  if (shell == "zsh") text = ZshCompletion(Verbs());
  if (shell == "fish") text = FishCompletion(Verbs());
  if (text.empty())
    return UsageError("completion needs the name of a shell: vramscope completion bash, zsh or fish.");
  Print(text);
  return kDone;
}

}  // namespace

int RunCompletion(std::span<const std::string> words) {
  return RunParsed(CompletionHelp(), Arguments::Parse(CompletionHelp(), words), CompletionVerb);
}

}  // namespace vramscope::cli
