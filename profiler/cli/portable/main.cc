// SPDX-License-Identifier: Apache-2.0
// The `vramscope` command for systems where it records nothing: the verbs that only read files.
#include <string>
#include <vector>

#include "profiler/cli/frame/verb.h"

#ifdef _WIN32
#include <windows.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <system_error>
#endif

namespace vramscope::cli {

std::span<const Verb> Verbs() { return AnsweringVerbs(); }

#ifdef _WIN32
namespace {

// Output is UTF-8 with colors, and without "\r\n": a document is the same bytes on every system.
void PrepareOutput() {
  _fmode = _O_BINARY;
  for (std::FILE* const stream : {stdin, stdout, stderr}) _setmode(_fileno(stream), _O_BINARY);
  SetConsoleOutputCP(CP_UTF8);
  const HANDLE console = GetStdHandle(STD_OUTPUT_HANDLE);
  DWORD mode = 0;
  if (GetConsoleMode(console, &mode)) SetConsoleMode(console, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
}

// "runs\run.vms" -> "runs/run.vms": names are shown from the last '/' on.
std::string WithSlashes(std::string word) {
  std::error_code failed;
  if (std::filesystem::exists(word, failed)) std::replace(word.begin(), word.end(), '\\', '/');
  return word;
}

}  // namespace
#endif

}  // namespace vramscope::cli

int main(int count, char** words) {
  std::vector<std::string> arguments(words + 1, words + count);
#ifdef _WIN32
  vramscope::cli::PrepareOutput();
  for (std::string& argument : arguments) argument = vramscope::cli::WithSlashes(std::move(argument));
#endif
  return vramscope::cli::RunCommandLine(arguments);
}
