// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/record/usual_variants.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <vector>

#include "profiler/cli/frame/terminal.h"
#include "profiler/cli/frame/verb.h"
#include "profiler/collector/launch/torch_location.h"
#include "profiler/experiment/answerer.h"
#include "profiler/experiment/question.h"
#include "profiler/plan/judge.h"

namespace vramscope::cli {

using experiment::Changes;
using experiment::WhatifCase;
using experiment::WhatifQuestion;

namespace {

constexpr int kLowest = 19;

// Without a terminal and in its own session, so that Ctrl-C and a closed window do not affect it.
bool Spawn(const std::vector<std::string>& words, pid_t* child) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawnattr_t how;
  if (posix_spawn_file_actions_init(&files) != 0) return false;
  if (posix_spawnattr_init(&how) != 0) {
    posix_spawn_file_actions_destroy(&files);
    return false;
  }
  for (int standard = 0; standard <= 2; ++standard)
    posix_spawn_file_actions_addopen(&files, standard, "/dev/null", O_RDWR, 0);
  posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSID);
  const bool started = posix_spawn(child, "/proc/self/exe", &files, &how, argv.data(), environ) == 0;
  posix_spawnattr_destroy(&how);
  posix_spawn_file_actions_destroy(&files);
  return started;
}

}  // namespace

bool MayWorkBehind() {
  const char* const wish = std::getenv("VRAMSCOPE_VARIANTS");
  return wish == nullptr || std::string_view(wish) != "none";
}

void UsePythonOf(const std::vector<std::string>& command) {
  const Result<collector::TorchLocation> torch = collector::FindTorch(command);
  if (torch.ok() && !torch->python.empty()) setenv("VRAMSCOPE_PYTHON", torch->python.c_str(), 0);
}

void MakeUsualVariantsBehind(const std::string& path) {
  std::error_code unknown;
  const std::string whole = std::filesystem::absolute(path, unknown).string();
  std::vector<std::string> words = {"vramscope", "whatif", "--quiet", unknown ? path : whole};
  for (const Changes& changes : experiment::UsualVariants())
    words.insert(words.end(), {"--compare", plan::TextOf(changes)});
  pid_t child = 0;
  if (Spawn(words, &child)) setpriority(PRIO_PROCESS, static_cast<id_t>(child), kLowest);
}

void MakeUsualVariantsNow(const std::string& path) {
  const auto recorded = experiment::ReadRecordedStep(path, model::LoadFile(path), {});
  if (!recorded.ok()) return Say(recorded.error().sentence);
  experiment::WhatifAnswerer answerer(**recorded, path, {.say = Say});
  std::vector<WhatifQuestion> questions;
  for (const Changes& changes : experiment::UsualVariants())
    questions.push_back({experiment::OptionsText(changes), changes});
  answerer.Prepare(questions);
  for (const WhatifQuestion& question : questions) {
    const Result<WhatifCase> answer = answerer.Answer(question);
    if (!answer.ok()) Say(answer.error().sentence);
  }
}

}  // namespace vramscope::cli
