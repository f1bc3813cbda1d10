// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <charconv>
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
    Verb{"info", "what is in a trace or snapshot: processes, devices, coverage, losses", RunInfo},
    Verb{"report", "where the memory of a run went", RunReport},
    Verb{"explain", "why nvidia-smi shows more than PyTorch", RunExplain},
    Verb{"frag", "what is reserved and not used, why, and which tensors pin it", RunFrag},
    Verb{"oom", "why a request ran out of memory, with proof, and what to change", RunOom},
    Verb{"replay", "a history through PyTorch's allocator, under other settings too", RunReplay},
    Verb{"pack", "the least memory that any allocator could do with", RunPack},
    Verb{"convert", "a PyTorch memory snapshot to a trace, or back", RunConvert},
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

std::optional<uint32_t> PidFrom(const Arguments& arguments) {
  if (arguments.positionals().size() != 1) return {};
  const std::string& text = arguments.positionals().front();
  uint32_t pid = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), pid);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return {};
  return pid;
}

int Fail(const std::string& sentence, int code) {
  Say(sentence);
  return code;
}

void Say(const std::string& sentence) {
  std::fputs(fmt::format("vramscope: {}\n", sentence).c_str(), stderr);
}

}  // namespace vramscope::cli
