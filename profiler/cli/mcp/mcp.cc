// SPDX-License-Identifier: Apache-2.0
// `vramscope mcp`: answers an agent's questions about the runs of a folder, on standard input and output.
//
// Each call runs its verb in a forked child, whose output is the answer. So a verb that fails on a damaged
// file, or that takes too long, ends its child, and the server goes on. Nothing is kept between calls.
#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>

#include "profiler/cli/frame/arguments.h"
#include "profiler/cli/frame/verb.h"
#include "profiler/cli/mcp/server.h"
#include "profiler/text/failure.h"

namespace vramscope::cli {

const VerbHelp& McpHelp() {
  static const VerbHelp help = {
      "mcp",
      "answer an agent's questions about the runs of a folder (Model Context Protocol)",
      "mcp FOLDER",
      {{"vramscope mcp runs",
        "serve the traces and snapshots in the folder runs, over standard input and output"},
       {"claude mcp add vramscope -- vramscope mcp runs",
        "register the server with an agent, which then starts it"}},
      {}};
  return help;
}

namespace {

constexpr unsigned kLimitSeconds = 300;
constexpr off_t kLongestAnswer = 64 << 20;

// An in-memory file for the output of a child process.
class Captured {
 public:
  Captured() : descriptor_(memfd_create("answer", MFD_CLOEXEC)) {}
  ~Captured() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;
  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] std::string Text() const {
    struct stat facts {};
    if (fstat(descriptor_, &facts) != 0 || facts.st_size > kLongestAnswer) return {};
    std::string text(static_cast<size_t>(facts.st_size), '\0');
    const ssize_t count = pread(descriptor_, text.data(), text.size(), 0);
    text.resize(static_cast<size_t>(std::max<ssize_t>(count, 0)));
    return text;
  }

 private:
  int descriptor_;
};

[[noreturn]] void RunInChild(const Verb& verb, const std::vector<std::string>& words, int out, int error) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  dup2(nothing, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(error, STDERR_FILENO);
  alarm(kLimitSeconds);
  int code = kCannotJudge;
  try {
    code = verb.run(words);
  } catch (const std::exception& failure) {
    Say(text::SentenceOf(failure, verb.name));
  }
  std::fflush(nullptr);
  _exit(code);
}

std::string WithoutPrefix(std::string text) {
  constexpr std::string_view kPrefix = "vramscope: ";
  for (size_t at = 0; (at = text.find(kPrefix, at)) != std::string::npos;) text.erase(at, kPrefix.size());
  std::replace(text.begin(), text.end(), '\n', ' ');
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

VerbAnswer RunVerbOfTool(const Tool& tool, const std::vector<std::string>& words) {
  const auto verbs = Verbs();
  const auto verb = std::find_if(verbs.begin(), verbs.end(),
                                 [&](const Verb& each) { return each.name == std::string(tool.name); });
  const Captured out;
  const Captured error;
  std::fflush(nullptr);
  const pid_t child = verb == verbs.end() || out.descriptor() < 0 || error.descriptor() < 0 ? -1 : fork();
  if (child == 0) RunInChild(*verb, words, out.descriptor(), error.descriptor());
  if (child < 0) return {kCannotJudge, "", "There is not enough memory to answer this."};
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
    return {kCannotJudge, "",
            fmt::format("{} took longer than {} s and was ended.", tool.name, kLimitSeconds)};
  if (WIFSIGNALED(status))
    return {kCannotJudge, "", fmt::format("{} was ended by signal {}.", tool.name, WTERMSIG(status))};
  return {WEXITSTATUS(status), out.Text(), WithoutPrefix(error.Text())};
}

// Reads the next line, without its line end. False at the end of input. `too_long`: the line was cut off.
bool NextLine(std::string& line, bool& too_long) {
  line.clear();
  too_long = false;
  int c = 0;
  while ((c = std::getc(stdin)) != EOF && c != '\n') {
    if (line.size() < McpServer::kLongestLine) {
      line.push_back(static_cast<char>(c));
    } else {
      too_long = true;
    }
  }
  return c == '\n' || !line.empty();
}

bool Reply(const std::string& answer) {
  return std::fwrite(answer.data(), 1, answer.size(), stdout) == answer.size() &&
         std::fputc('\n', stdout) != EOF && std::fflush(stdout) == 0;
}

Result<int> McpVerb(const Arguments& arguments, const Terminal&) {
  if (arguments.positionals().size() != 1) return UsageError("mcp needs one folder: vramscope mcp runs");
  ServedFolder folder = VRAMSCOPE_TRY(ServedFolder::Open(arguments.positionals().front()));
  signal(SIGPIPE, SIG_IGN);  // if the client is gone, fwrite fails instead
  McpServer server(std::move(folder), VRAMSCOPE_VERSION, RunVerbOfTool);
  std::string line;
  bool too_long = false;
  while (NextLine(line, too_long)) {
    if (line.empty()) continue;
    const auto answer = too_long ? std::optional(McpServer::TooLong()) : server.Answer(line);
    if (answer.has_value() && !Reply(*answer)) break;
  }
  return kDone;
}

}  // namespace

int RunMcp(std::span<const std::string> words) {
  return RunParsed(McpHelp(), Arguments::Parse(McpHelp(), words), McpVerb);
}

}  // namespace vramscope::cli
