// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/launch/torch_location.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "profiler/collector/launch/answer_cache.h"
#include "profiler/collector/launch/tool_run.h"
#include "profiler/collector/target/target_program.h"

namespace vramscope::collector {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

constexpr int kMaxNesting = 4;  // a "#!" script whose interpreter is another "#!" script, with env in between
constexpr size_t kMaxWordsLookedAt = 32;  // of a program that may start another one
constexpr seconds kPythonLimit{20};       // a cold interpreter on a network disk
constexpr seconds kLoaderLimit{10};

#if defined(__x86_64__)
constexpr char kLoader[] = "/lib64/ld-linux-x86-64.so.2";
#else
constexpr char kLoader[] = "/lib/ld-linux-aarch64.so.1";
#endif

// find_spec reads the folders of sys.path and runs nothing of the package. The folders are the answer's
// witnesses: installing or removing a package changes one of them.
constexpr char kAskPython[] =
    "import importlib.util as u, sys; s = u.find_spec('{}'); "
    "[print('vramscope-path:' + p) for p in sys.path if p]; "
    "print('vramscope-package:' + (s.origin or '') if s else '')";

// The package to find, and the folder with earlier answers ("" = none).
struct Search {
  std::string package;  // "torch", "tensorflow"
  std::string memory;
};

bool IsPythonName(const std::string& path) {
  std::string name = fs::path(path).filename().string();
  for (const std::string_view stem : {"python", "pypy"}) {
    if (name.starts_with(stem))
      return name.find_first_not_of("0123456789.t", stem.size()) == std::string::npos;
  }
  return false;
}

std::string FirstBytes(const std::string& path, size_t count) {
  std::ifstream file(path, std::ios::binary);
  std::string text(count, '\0');
  file.read(text.data(), static_cast<std::streamsize>(count));
  text.resize(static_cast<size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return text;
}

bool IsElf(const std::string& head) { return head.starts_with("\177ELF"); }

// Shells, and scripts of any kind.
bool MayStartPython(const std::string& program) {
  static constexpr std::string_view kShells[] = {"sh", "bash", "dash", "zsh", "ksh", "fish", "make"};
  return std::ranges::find(kShells, fs::path(program).filename().string()) != std::end(kShells) ||
         !IsElf(FirstBytes(program, 4));
}

std::vector<std::string> Words(const std::string& line) {
  std::istringstream stream(line);
  return {std::istream_iterator<std::string>(stream), std::istream_iterator<std::string>()};
}

// The words of a script's "#!" line. pip writes a longer form if the interpreter's path has blanks or is too
// long for the kernel:
//   #!/bin/sh
//   '''exec' "/a long path/python" "$0" "$@"
std::vector<std::string> InterpreterLine(const std::string& head) {
  if (!head.starts_with("#!")) return {};
  static constexpr std::string_view kExec = "\n'''exec' ";
  if (const size_t exec = head.find(kExec); exec != std::string::npos) {
    const size_t begin = exec + kExec.size();
    const bool quoted = head[begin] == '"';
    const size_t end = head.find(quoted ? '"' : ' ', begin + 1);
    if (end != std::string::npos) return {head.substr(begin + quoted, end - begin - quoted)};
  }
  return Words(head.substr(2, head.find('\n') - 2));
}

// `env [-iS] [-u NAME] [NAME=value]... command`: where the command begins.
size_t CommandOfEnv(std::span<const std::string> command) {
  size_t i = 1;
  while (i < command.size()) {
    const std::string& word = command[i];
    if (word == "-u" || word == "-C" || word == "--unset" || word == "--chdir") {
      i += 2;
    } else if (word.starts_with("-") || word.find('=') != std::string::npos) {
      ++i;
    } else {
      break;
    }
  }
  return std::min(i, command.size());
}

// __version__ = '2.15.0+cu132' of a wheel's version.py; the one line of build-version in a LibTorch archive.
std::string VersionAt(const fs::path& root) {
  const std::string python = FirstBytes((root / "version.py").string(), 4096);
  static constexpr std::string_view kName = "__version__ = '";
  if (const size_t at = python.find(kName); at != std::string::npos) {
    const size_t begin = at + kName.size();
    return python.substr(begin, python.find('\'', begin) - begin);
  }
  const std::vector<std::string> words = Words(FirstBytes((root / "build-version").string(), 64));
  return words.empty() ? std::string() : words[0];
}

TorchLocation LocationAt(const fs::path& root, std::string python = {}) {
  return {root.lexically_normal().string(), VersionAt(root), std::move(python)};
}

// The lines of `text` that begin with `mark`, without the mark.
std::vector<std::string> MarkedLines(const std::string& text, std::string_view mark) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with(mark)) lines.push_back(line.substr(mark.size()));
  }
  return lines;
}

// The question for the answer cache. It has everything that sys.path depends on: interpreter and variables.
std::string PathQuestion(const std::string& package, const std::string& python) {
  std::string question = "where is the " + package + " of " + python;
  for (const char* variable : {"PYTHONPATH", "PYTHONHOME", "PYTHONUSERBASE", "PYTHONNOUSERSITE", "HOME"}) {
    const char* const value = std::getenv(variable);
    question += fmt::format(" {}={}", variable, value == nullptr ? "" : value);
  }
  return question;
}

// Stores the answer, unless the package was found outside the folders of sys.path (in the current folder).
void Remember(const std::string& memory, const std::string& question, const std::string& python,
              std::vector<std::string> folders, const std::string& origin) {
  const fs::path package = fs::path(origin).parent_path();
  if (!origin.empty() && std::ranges::find(folders, package.parent_path().string()) == folders.end()) return;
  folders.push_back(python);
  folders.push_back((fs::path(python).parent_path().parent_path() / "pyvenv.cfg").string());
  if (!origin.empty()) folders.push_back((package / "version.py").string());
  KeepAnswer(memory, question, origin, folders);
}

Result<TorchLocation> AskPython(const std::string& python, const Search& search) {
  const std::string question = PathQuestion(search.package, python);
  std::optional<std::string> origin = RecallAnswer(search.memory, question);
  if (!origin) {
    const std::string program = fmt::format(kAskPython, search.package);
    const std::string answer = VRAMSCOPE_TRY(RunTool({python, "-c", program}, kPythonLimit));
    const std::vector<std::string> found = MarkedLines(answer, "vramscope-package:");
    origin = found.empty() ? std::string() : found.back();
    Remember(search.memory, question, python, MarkedLines(answer, "vramscope-path:"), *origin);
  }
  if (origin->empty()) return Error{fmt::format("{} has no {}.", python, search.package)};
  return LocationAt(fs::path(*origin).parent_path(), python);
}

// Resolves libraries as the loader would now, with RUNPATH, LD_LIBRARY_PATH and indirect libraries.
Result<TorchLocation> AskLoader(const std::string& program) {
  const Result<std::string> list = RunTool({kLoader, "--list", program}, kLoaderLimit);
  static constexpr std::string_view kMark = "libtorch_cpu.so => ";
  const size_t mark = list.ok() ? list->find(kMark) : std::string::npos;
  if (mark == std::string::npos) return Error{fmt::format("{} is not linked to libtorch_cpu.so.", program)};
  const size_t begin = mark + kMark.size();
  const fs::path library = list->substr(begin, list->find(" (", begin) - begin);
  return LocationAt(library.parent_path().parent_path());
}

Result<TorchLocation> AskPythonOnPath(const std::string& shell, const Search& search) {
  for (const char* name : {"python3", "python"}) {
    const Result<std::string> python = FindProgram(name);
    if (!python.ok()) continue;
    if (Result<TorchLocation> found = AskPython(*python, search); found.ok()) return found;
  }
  return Error{fmt::format("{} may start a Python interpreter, but the Python on PATH has no {}.", shell,
                           search.package)};
}

// Handles the first word of `command` itself: a Python, a script for one, a program linked to libtorch, or
// env before one of these.
Result<TorchLocation> FindInProgram(std::span<const std::string> command, const Search& search,
                                    int nesting = 0) {
  if (command.empty() || nesting > kMaxNesting) return Error{"The command starts no program."};
  const std::string program = VRAMSCOPE_TRY(FindProgram(command[0]));
  if (IsPythonName(program)) return AskPython(program, search);
  if (fs::path(program).filename() == "env")
    return FindInProgram(command.subspan(CommandOfEnv(command)), search, nesting + 1);
  const std::string head = FirstBytes(program, 1024);
  if (IsElf(head)) return AskLoader(program);
  return FindInProgram(InterpreterLine(head), search, nesting + 1);
}

Result<TorchLocation> Find(std::span<const std::string> command, const Search& search) {
  Result<TorchLocation> found = FindInProgram(command, search);
  // A program without the package may start one with it.
  for (size_t i = 1; !found.ok() && i < std::min(command.size(), kMaxWordsLookedAt); ++i) {
    if (Result<TorchLocation> in_argument = FindInProgram(command.subspan(i), search); in_argument.ok())
      return in_argument;
  }
  if (found.ok() || command.empty()) return found;
  const Result<std::string> program = FindProgram(command[0]);
  if (program.ok() && MayStartPython(*program)) return AskPythonOnPath(*program, search);
  return found;
}

}  // namespace

Result<TorchLocation> FindTorch(std::span<const std::string> command, const std::string& memory) {
  return Find(command, {"torch", memory});
}

Result<std::string> FindPackage(std::span<const std::string> command, const std::string& package) {
  return VRAMSCOPE_TRY(Find(command, {package, {}})).root;
}

}  // namespace vramscope::collector
