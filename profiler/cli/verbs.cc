// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>

#include "profiler/cli/verb.h"

namespace vramscope::cli {
namespace {

constexpr std::array kVerbs = {
    Verb{"record", "record what a command allocates", RunRecord},
    Verb{"attach", "record a process that is running already, for a while", RunAttach},
    Verb{"start", "the same for one that waits for it (record --dormant)", RunStart},
    Verb{"stop", "end that", RunStop},
    Verb{"dump", "have the last steps of a running recording written", RunDump},
    Verb{"dryrun", "the same on a simulated GPU: does it fit, what will it take", RunDryrun},
    Verb{"try", "a command with a change that its code does not have: what it takes then", RunTry},
    Verb{"info", "what is in a trace or snapshot: processes, devices, coverage, losses", RunInfo},
    Verb{"report", "where the memory of a run went", RunReport},
    Verb{"explain", "why nvidia-smi shows more than PyTorch", RunExplain},
    Verb{"frag", "what is reserved and not used, why, and which tensors pin it", RunFrag},
    Verb{"oom", "why a request ran out of memory, with proof, and what to change", RunOom},
    Verb{"replay", "a history through PyTorch's allocator, under other settings too", RunReplay},
    Verb{"whatif", "what a change to the program would take: batch, optimizer, checkpointing, ...",
         RunWhatif},
    Verb{"pack", "the least memory that any allocator could do with", RunPack},
    Verb{"leaks", "what grows from step to step, and what keeps it", RunLeaks},
    Verb{"diff", "what differs between two runs, and what was changed", RunDiff},
    Verb{"check", "rules about the memory of a run, for a build server", RunCheck},
    Verb{"convert", "a trace or snapshot in the format of another tool", RunConvert},
    Verb{"view", "see a run in a window: memory over time, every block at every moment", RunView},
};

}  // namespace

std::span<const Verb> Verbs() { return kVerbs; }

int RunParsed(const VerbHelp& help, const Result<Arguments>& arguments,
              int (*run)(const Arguments& arguments, const Terminal& terminal)) {
  if (!arguments.ok()) return Fail(arguments.error().sentence);
  const Result<ColorMode> color = ParseColorMode(arguments->Get("color", "auto"));
  if (!color.ok()) return Fail(color.error().sentence);
  const Terminal terminal = Terminal::For(STDOUT_FILENO, *color);
  if (arguments->help_wanted()) {
    fmt::print("{}", HelpText(help, terminal));
    return kDone;
  }
  return run(*arguments, terminal);
}

Result<pid_t> PidFrom(const Arguments& arguments, const std::string& example) {
  if (arguments.positionals().size() != 1)
    return Error{fmt::format("{} needs the id of one process: vramscope {}",
                             example.substr(0, example.find(' ')), example)};
  const std::string& text = arguments.positionals().front();
  uint64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || number == 0)
    return Error{fmt::format("'{}' is not a process id. Find it with: pgrep -af python", Printable(text))};
  if (number > INT32_MAX) return Error{fmt::format("There is no process {}.", number)};
  return static_cast<pid_t>(number);
}

int Fail(const std::string& sentence, int code) {
  Say(sentence);
  return code;
}

void Say(const std::string& sentence) {
  std::fputs(fmt::format("vramscope: {}\n", sentence).c_str(), stderr);
}

}  // namespace vramscope::cli
