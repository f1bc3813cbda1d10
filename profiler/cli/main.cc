// SPDX-License-Identifier: Apache-2.0
// The `vramscope` command: finds the verb and passes the remaining arguments to it.
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "profiler/cli/frame/arguments.h"
#include "profiler/cli/frame/terminal.h"
#include "profiler/cli/frame/verb.h"
#include "profiler/collector/output/trace_claim.h"
#include "profiler/text/failure.h"

namespace vramscope::cli {
namespace {

// If the caller has closed descriptor 0, 1 or 2, a file that we open must not get that number: a program that
// we start would write into it. O_CLOEXEC closes them again for that program.
void OccupyClosedStandardDescriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR | O_CLOEXEC) != fd) return;
  }
}

std::string Overview(const Terminal& terminal) {
  std::string text = fmt::format("{}: where the memory of a training run goes\n\n",
                                 terminal.Paint("vramscope", Ink::Bold()));
  Table examples({Align::kLeft, Align::kLeft});
  examples.AddRow({terminal.Paint("vramscope record -- python train.py", Ink::Good()),
                   terminal.Paint("record a run, with no change to it", Ink::Dim())});
  examples.AddRow({terminal.Paint("vramscope report run.vms", Ink::Good()),
                   terminal.Paint("show where its memory went", Ink::Dim())});
  text += examples.ToString() + "\nVerbs:\n";
  Table verbs({Align::kLeft, Align::kLeft});
  for (const Verb& verb : Verbs()) verbs.AddRow({verb.name, verb.summary});
  return text + verbs.ToString() +
         "\nvramscope VERB --help explains a verb; vramscope --version prints the version.\n";
}

int UnknownVerb(const std::string& word) {
  std::vector<std::string> names;
  for (const Verb& verb : Verbs()) names.emplace_back(verb.name);
  const auto nearest = Nearest(word, names);
  return Fail(
      UsageError(nearest ? fmt::format("there is no verb '{}'. Did you mean '{}'?", Printable(word), *nearest)
                         : fmt::format("there is no verb '{}'. See vramscope --help.", Printable(word))));
}

int Run(const std::vector<std::string>& words) {
  const std::string first = words.empty() ? "" : words.front();
  if (first.empty() || first == "--help" || first == "-h" || first == "help") {
    std::FILE* stream = first.empty() ? stderr : stdout;
    Print(Overview(Terminal::For(fileno(stream), ColorMode::kAuto)), stream);
    return first.empty() ? kBadInput : kDone;
  }
  if (first == "--version") {
    fmt::print("vramscope {}\n", VRAMSCOPE_VERSION);
    return kDone;
  }
  const auto verbs = Verbs();
  const auto verb = std::find_if(verbs.begin(), verbs.end(), [&](const Verb& v) { return first == v.name; });
  // A file without a verb: shows what most people want first.
  if (std::error_code failed; verb == verbs.end() && std::filesystem::is_regular_file(first, failed))
    return RunReport(words);
  if (verb == verbs.end()) return UnknownVerb(first);
  return verb->run(std::span(words).subspan(1));
}

}  // namespace
}  // namespace vramscope::cli

int main(int count, char** words) {
  vramscope::collector::NoteProcessStart();
  vramscope::cli::OccupyClosedStandardDescriptors();
  try {
    const int code = vramscope::cli::Run({words + 1, words + count});
    // A full disk behind stdout must not count as success.
    if (std::fflush(stdout) != 0 && code == vramscope::cli::kDone) {
      return vramscope::cli::Fail(
          {"the output could not be written. Free some space, or write to another file."});
    }
    return code;
  } catch (const std::exception& failure) {
    const std::vector<std::string> given(words + 1, words + count);
    return vramscope::cli::Fail(vramscope::CannotJudge(
        vramscope::text::SentenceOf(failure, fmt::format("vramscope {}", fmt::join(given, " ")))));
  }
}
