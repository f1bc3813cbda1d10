// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/fleet/mpi_explain.h"

#include <fmt/format.h>
#include <unistd.h>

#include <boost/serialization/string.hpp>
#include <boost/serialization/vector.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>

#include "profiler/fleet/read.h"

namespace vramscope::cli {
namespace {

namespace fs = std::filesystem;
namespace mpi = boost::mpi;

// Kinds of messages. Process 0 sends kTasks, kFile and kEnd.
constexpr int kTasks = 1;  // outliers to explain
constexpr int kAnswers = 2;
constexpr int kFile = 3;  // the path of a file to send
constexpr int kPart = 4;  // a part of it; an empty one is the end
constexpr int kEnd = 5;
constexpr size_t kPartBytes = 16 << 20;
constexpr std::chrono::milliseconds kPause{2};

// Opens traces. If this process does not see a trace, it gets a temporary copy from a process that does.
class Fetcher {
 public:
  Fetcher(const mpi::communicator& world, const Plan& plan) : world_(world), open_(fleet::SideOpener()) {
    for (const auto& [file, reader] : plan) readers_.emplace(file.path, reader);
  }

  Result<diff::Side> Open(const fleet::RankSummary& rank) {
    if (access(rank.file.c_str(), R_OK) == 0) return open_(rank);
    const auto reader = readers_.find(rank.file);
    if (reader == readers_.end() || reader->second == 0) return open_(rank);
    const std::string copy =
        fmt::format("{}/vramscope-fleet-{}.vms", fs::temp_directory_path().string(), getpid());
    world_.send(reader->second, kFile, rank.file);
    std::ofstream out(copy, std::ios::binary | std::ios::trunc);
    for (std::string part;;) {
      world_.recv(reader->second, kPart, part);
      if (part.empty()) break;
      out.write(part.data(), static_cast<std::streamsize>(part.size()));
    }
    out.close();
    fleet::RankSummary here = rank;
    here.file = copy;
    Result<diff::Side> side = open_(here);
    open_ = fleet::SideOpener();  // forget it: the name is used again
    std::error_code gone;
    fs::remove(copy, gone);
    return side;
  }

 private:
  const mpi::communicator& world_;
  std::map<std::string, int> readers_;
  fleet::OpenSide open_;
};

void SendFile(const mpi::communicator& world) {
  std::string path;
  world.recv(0, kFile, path);
  std::ifstream file(path, std::ios::binary);
  for (std::string part(kPartBytes, '\0'); file.read(part.data(), kPartBytes) || file.gcount() > 0;)
    world.send(0, kPart, part.substr(0, static_cast<size_t>(file.gcount())));
  world.send(0, kPart, std::string());
}

// The fields of a summary that are needed to open the run.
struct Subject {
  std::string file, device;
  uint32_t pid = 0;
  bool is_snapshot = false;

  template <typename Archive>
  void serialize(Archive& archive, unsigned) {
    archive& file& device& pid& is_snapshot;
  }
  explicit operator fleet::RankSummary() const {
    fleet::RankSummary rank;
    rank.file = file;
    rank.device = device;
    rank.pid = pid;
    rank.is_snapshot = is_snapshot;
    return rank;
  }
  friend bool operator<(const Subject& a, const Subject& b) {
    return std::tie(a.file, a.device, a.pid) < std::tie(b.file, b.device, b.pid);
  }
};

Subject SubjectOf(const fleet::RankSummary& rank) {
  return {rank.file, rank.device, rank.pid, rank.is_snapshot};
}

struct Task {
  Subject typical, outlier;
  bool more = false;

  template <typename Archive>
  void serialize(Archive& archive, unsigned) {
    archive& typical& outlier& more;
  }
};

struct Answer {
  bool known = false;
  std::string category, module, line, cause, text;

  template <typename Archive>
  void serialize(Archive& archive, unsigned) {
    archive& known& category& module& line& cause& text;
  }
};

using Answers = std::vector<std::optional<fleet::Explanation>>;

Answers Explained(const std::vector<Task>& tasks, const fleet::OpenSide& open) {
  std::map<Subject, fleet::RankSummary> ranks;  // each typical rank once, even if it has several tasks
  std::vector<fleet::Question> questions;
  const auto rank_of = [&](const Subject& subject) {
    return &ranks.try_emplace(subject, static_cast<fleet::RankSummary>(subject)).first->second;
  };
  for (const Task& task : tasks)
    questions.push_back({rank_of(task.typical), rank_of(task.outlier), task.more});
  return fleet::ExplainHere(open)(questions);
}

void AnswerTasks(const mpi::communicator& world) {
  std::vector<Task> tasks;
  world.recv(0, kTasks, tasks);
  std::vector<Answer> answers;
  for (const auto& one : Explained(tasks, fleet::SideOpener()))
    answers.push_back(one.has_value()
                          ? Answer{true, one->category, one->module, one->line, one->cause, one->text}
                          : Answer());
  world.send(0, kAnswers, answers);
}

// Assigns questions to processes.
class Dealer {
 public:
  explicit Dealer(const std::vector<std::vector<Seen>>& seen) : load_(seen.size()), typicals_(seen.size()) {
    std::map<std::string, std::set<Seen>> versions;
    for (size_t process = 0; process < seen.size(); ++process) {
      for (const Seen& file : seen[process]) {
        seers_[file.path].insert(process);
        bytes_[file.path] = file.bytes;
        versions[file.path].insert(file);
      }
    }
    // If nodes have different files of one name, only the plan's reader has the right one: process 0 gets it.
    for (const auto& [path, files] : versions)
      if (files.size() > 1) seers_.erase(path);
  }

  // The process that has to explain this; nothing if no process sees both files.
  std::optional<size_t> ProcessFor(const Task& task) {
    const std::set<size_t>& typical = seers_[task.typical.file];
    std::optional<size_t> best;
    uint64_t best_load = 0;
    for (const size_t process : seers_[task.outlier.file]) {
      if (!typical.contains(process)) continue;
      const uint64_t load = load_[process] + bytes_[task.outlier.file] + 4096 +
                            (typicals_[process].contains(task.typical) ? 0 : bytes_[task.typical.file]);
      if (best.has_value() && best_load <= load) continue;
      best = process;
      best_load = load;
    }
    if (!best.has_value()) return best;
    load_[*best] = best_load;
    typicals_[*best].insert(task.typical);
    return best;
  }

 private:
  std::map<std::string, std::set<size_t>> seers_;
  std::map<std::string, uint64_t> bytes_;
  std::vector<uint64_t> load_;
  std::vector<std::set<Subject>> typicals_;
};

// The questions of process 0, answered by all processes.
Answers ExplainTogether(const mpi::communicator& world, const std::vector<std::vector<Seen>>& seen,
                        Fetcher& fetcher, const std::vector<fleet::Question>& questions) {
  Dealer dealer(seen);
  const size_t nobody = seen.size();
  std::vector<std::vector<Task>> tasks(seen.size() + 1);
  std::vector<std::vector<size_t>> numbers(seen.size() + 1);
  for (size_t i = 0; i < questions.size(); ++i) {
    const Task task{SubjectOf(*questions[i].typical), SubjectOf(*questions[i].outlier), questions[i].more};
    const size_t process = dealer.ProcessFor(task).value_or(nobody);
    tasks[process].push_back(task);
    numbers[process].push_back(i);
  }
  Answers all(questions.size());
  const auto keep = [&](size_t process, Answers answers) {
    for (size_t i = 0; i < answers.size(); ++i) all[numbers[process][i]] = std::move(answers[i]);
  };
  for (int other = 1; other < world.size(); ++other)
    if (const auto& own = tasks[static_cast<size_t>(other)]; !own.empty()) world.send(other, kTasks, own);
  keep(0, Explained(tasks[0], fleet::SideOpener()));
  for (int other = 1; other < world.size(); ++other) {
    if (tasks[static_cast<size_t>(other)].empty()) continue;
    std::vector<Answer> answers;
    WaitForMessage(world, other);
    world.recv(other, kAnswers, answers);
    Answers known;
    for (Answer& one : answers)
      known.push_back(one.known ? std::optional(fleet::Explanation{one.category, one.module, one.line,
                                                                   one.cause, one.text})
                                : std::nullopt);
    keep(static_cast<size_t>(other), std::move(known));
  }
  // Last: a process that still explains cannot send a file.
  keep(nobody, Explained(tasks[nobody], [&](const fleet::RankSummary& rank) { return fetcher.Open(rank); }));
  return all;
}

}  // namespace

int WaitForMessage(const mpi::communicator& world, int from) {
  for (;;) {
    if (const auto message = world.iprobe(from, mpi::any_tag)) return message->tag();
    std::this_thread::sleep_for(kPause);
  }
}

fleet::Explainer SharedExplainer(const mpi::communicator& world, const std::vector<std::vector<Seen>>& seen,
                                 const Plan& plan) {
  return [&world, &seen,
          fetcher = std::make_shared<Fetcher>(world, plan)](const std::vector<fleet::Question>& questions) {
    return ExplainTogether(world, seen, *fetcher, questions);
  };
}

void ServeProcessZero(const mpi::communicator& world) {
  for (int kind = WaitForMessage(world, 0); kind != kEnd; kind = WaitForMessage(world, 0))
    kind == kTasks ? AnswerTasks(world) : SendFile(world);
  world.recv(0, kEnd);
}

void EndServing(const mpi::communicator& world) {
  for (int other = 1; other < world.size(); ++other) world.send(other, kEnd);
}

}  // namespace vramscope::cli
