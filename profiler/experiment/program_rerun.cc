// SPDX-License-Identifier: Apache-2.0
#include "profiler/experiment/program_rerun.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "profiler/collector/launch/installation.h"
#include "profiler/collector/launch/torch_location.h"
#include "profiler/collector/output/scratch_folder.h"
#include "profiler/collector/output/whole_file.h"
#include "profiler/collector/target/target_program.h"
#include "profiler/experiment/lean_trace.h"
#include "profiler/experiment/try/try_run.h"
#include "profiler/text/harmless.h"

namespace vramscope::experiment {
namespace {

// A re-run gets this many times the GPU's memory. A change may need more than the GPU has, and the
// answer must show how much. So a re-run must not reach the point where PyTorch reacts to full memory.
constexpr uint64_t kRoom = 16;
constexpr char kDeepStep[] = "2";  // one step with its operators is enough for further changes

// Changes that the runner itself applies, because they change the program's own data.
constexpr std::string_view kOfTheRunner[] = {"batch", "sequence", "precision", "quantize"};

// Ends a run that takes too long. Its signal reaches the command through the recorder, like Ctrl-C.
class TimeLimit {
 public:
  explicit TimeLimit(std::chrono::seconds limit) {
    // Signals are for the recorder, which reads them on its own thread.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    watch_ = std::thread([this, limit] { Watch(limit); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  ~TimeLimit() { Stop(); }
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;

  // Returns true if the limit has passed. After that, nothing happens any more.
  bool Stop() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    over_.notify_all();
    if (watch_.joinable()) watch_.join();
    return passed_;
  }

 private:
  void Watch(std::chrono::seconds limit) {
    std::unique_lock lock(mutex_);
    if (over_.wait_for(lock, limit, [this] { return done_; })) return;
    passed_ = true;
    kill(getpid(), SIGTERM);
  }

  std::mutex mutex_;
  std::condition_variable over_;
  bool done_ = false;
  bool passed_ = false;
  std::thread watch_;
};

std::string LastLine(const std::string& log) {
  const size_t end = log.find_last_not_of(" \r\n");
  if (end == std::string::npos) return "";
  const size_t before = log.find_last_of('\n', end);
  const size_t begin = before == std::string::npos ? 0 : before + 1;
  return log.substr(begin, end + 1 - begin);
}

// Fills `words` and `change`. Fails if a re-run cannot make the changes.
Status Prepare(const std::vector<whatif::Asked>& changes, std::vector<std::string>& words, Change& change) {
  for (const whatif::Asked& asked : changes) {
    if (std::ranges::find(kOfTheRunner, asked.lever) != std::end(kOfTheRunner)) {
      words.insert(words.end(), {"--" + asked.lever, asked.value});
      continue;
    }
    VRAMSCOPE_TRY(Ask(asked.lever, asked.value, change));
    if (change.WhyBeyond(asked.lever) != nullptr)
      return Error{fmt::format("--{} cannot be applied to a re-run yet", asked.lever)};
  }
  return {};
}

// Which changes were not applied; "" = all were.
std::string NotApplied(const std::string& notes, const Change& change) {
  for (const Outcome& outcome : ReadOutcomes(notes, change))
    if (outcome.applied.empty() && !outcome.refused.empty())
      return fmt::format("--{} was not applied: {}", outcome.lever, outcome.refused.front());
  return "";
}

// One of the requested runs, in the runner's form.
struct Variant {
  size_t number = 0;               // index among the requested runs
  std::vector<std::string> words;  // for the runner
  Change change;                   // applied by vramscope_try
  std::string notes;               // the folder of its notes

  [[nodiscard]] nlohmann::json ToJson() const {
    return {
        {"words", words},
        {"try", change.Levers().empty() ? nlohmann::json() : nlohmann::json::parse(PlanFor(change, notes))}};
  }
};

// Why this variant has no trace; "" = it has one.
std::string Failure(const Variant& variant, const nlohmann::json& answer, std::chrono::seconds limit) {
  const int status = answer.value("status", -1);
  if (answer.value("over", false))
    return fmt::format("the re-run took more than {} s; give it more time with --limit", limit.count());
  if (WIFSIGNALED(status)) return "the re-run was ended by " + EndingText(status);
  if (status != 0) return text::OneLine(answer.value("last_line", EndingText(status)));
  return variant.change.Levers().empty() ? "" : NotApplied(variant.notes, variant.change);
}

// Fails if there is no Python with PyTorch. The program may have used another Python than the one on PATH,
// such as that of a virtual environment that is not active now.
Status CheckPython() {
  const std::string python = RerunPython();
  const auto program = collector::FindProgram(python);
  const auto torch = collector::FindTorch(std::span(&python, 1));
  if (program.ok() && torch.ok()) return {};
  const Error& error = program.ok() ? torch.error() : program.error();
  return Error{error.sentence +
               " Set VRAMSCOPE_PYTHON to a Python that has PyTorch, such as the program's own: "
               "VRAMSCOPE_PYTHON=.venv/bin/python"};
}

// All runs with the same allocator settings: PyTorch reads these before it forks.
class Group {
 public:
  Group(const RerunSetting& setting, const std::string& settings, std::vector<Variant> variants)
      : setting_(setting), variants_(std::move(variants)) {
    plan_.device.gpu = setting.gpu;
    plan_.device.capacity_bytes = setting.gpu.capacity_bytes * kRoom;
    plan_.deep_steps = kDeepStep;
    plan_.say = setting.say;
    plan_.environment["VRAMSCOPE_PROGRAM"] = "off";
    plan_.environment["PYTORCH_CUDA_ALLOC_CONF"] = plan_.environment["PYTORCH_ALLOC_CONF"] = settings;
    if (!setting.cublas_workspace.empty())
      plan_.environment["CUBLAS_WORKSPACE_CONFIG"] = setting.cublas_workspace;
  }

  // Sets the traces of its variants, or why one has none. An error applies to all of them.
  Status Run(const std::string& runner, const std::string& program, const std::string& folder,
             std::vector<Result<trace::Bytes>>& traces) {
    const std::string list = folder + "/variants.json", answers = folder + "/answers.json";
    nlohmann::json asked = nlohmann::json::array();
    for (const Variant& variant : variants_) asked.push_back(variant.ToJson());
    std::ofstream(list) << asked;
    plan_.output = folder + "/variants.vms";
    plan_.command = {RerunPython(), runner,    program,
                     "--variants",  list,      "--answers",
                     answers,       "--limit", std::to_string(setting_.limit.count())};
    const std::string trace = VRAMSCOPE_TRY(Record());
    const auto ended = nlohmann::json::parse(collector::ReadWhole(answers), nullptr, false);
    if (!ended.is_array() || ended.size() != variants_.size()) return Error{"the re-run wrote no answer"};
    const auto full = VRAMSCOPE_TRY(trace::TraceReader::Open(trace));
    for (size_t i = 0; i < variants_.size(); ++i) {
      Result<trace::Bytes>& own = traces[variants_[i].number];
      if (std::string why = Failure(variants_[i], ended[i], setting_.limit); !why.empty())
        own = Error{std::move(why)};
      else
        own = LeanTrace(*full, ended[i].value("pid", 0u));
    }
    return {};
  }

 private:
  // Returns the path of the trace.
  Result<std::string> Record() {
    DryrunRunner runner(plan_, setting_.simulated_folder);
    std::string log;
    TimeLimit limit(setting_.limit * (variants_.size() + 1));
    const auto result = runner.Run(plan_.command, plan_.device, CommandOutput::kToFile, &log);
    if (limit.Stop()) return Error{"the re-runs took too long; give them more time with --limit"};
    if (!result.ok()) return result.error();
    const std::string said = LastLine(log);
    if (WIFSIGNALED(result->wait_status) || (result->wait_status != 0 && said.empty()))
      return Error{"the re-run was ended by " + EndingText(result->wait_status)};
    if (result->wait_status != 0) return Error{text::OneLine(said)};
    return result->trace;
  }

  const RerunSetting& setting_;
  DryrunPlan plan_;
  std::vector<Variant> variants_;
};

Status RunAll(std::string_view program, std::span<const Changes> wanted, const RerunSetting& setting,
              std::vector<Result<trace::Bytes>>& traces) {
  VRAMSCOPE_TRY(CheckPython());
  const collector::ScratchFolder scratch;
  const auto installation = collector::FindInstallation();
  if (scratch.path().empty())
    return Error{"cannot create a temporary folder. Set TMPDIR to a writable folder"};
  if (!installation.ok()) return installation.error();
  const std::string file = scratch.path() + "/program.json";
  std::ofstream(file, std::ios::binary).write(program.data(), static_cast<std::streamsize>(program.size()));
  std::map<std::string, std::vector<Variant>> groups;  // by allocator settings
  for (size_t i = 0; i < wanted.size(); ++i) {
    Variant variant{i, {}, {}, fmt::format("{}/notes-{}", scratch.path(), i)};
    if (Status prepared = Prepare(wanted[i], variant.words, variant.change); !prepared.ok()) {
      traces[i] = prepared.error();
      continue;
    }
    std::filesystem::create_directory(variant.notes);
    groups[variant.change.alloc_conf.value_or(setting.alloc_conf)].push_back(std::move(variant));
  }
  for (auto& [settings, variants] : groups) {
    Group group(setting, settings, variants);
    const Status ran =
        group.Run(installation->python_shim + "/vramscope_program", file, scratch.path(), traces);
    for (const Variant& variant : variants)
      if (!ran.ok()) traces[variant.number] = ran.error();
  }
  return {};
}

}  // namespace

std::vector<Result<trace::Bytes>> RunPrograms(std::string_view program, std::span<const Changes> wanted,
                                              const RerunSetting& setting) {
  std::vector<Result<trace::Bytes>> traces(wanted.size(), Error{"it was not run"});
  if (const Status ran = RunAll(program, wanted, setting, traces); !ran.ok())
    traces.assign(wanted.size(), ran.error());
  return traces;
}

}  // namespace vramscope::experiment
