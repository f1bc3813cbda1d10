// SPDX-License-Identifier: Apache-2.0
// vramscope-fleet-mpi: `vramscope fleet` in many processes, for `mpirun|srun vramscope fleet --mpi FOLDER`.
//
//   every process lists the files that it sees     names, sizes, times of change
//   each file goes to one that sees it             the largest first, to the one that has least to do
//   ranks become summaries where their files lie   text of summary_file.h, gathered by process 0
//   process 0 compares, and deals the outliers     each is explained by a process that sees its trace and
//   that are to be explained                       the typical one, so that nobody waits for process 0
//   no process sees both traces                    they are sent to process 0, and removed when they are read
//
// So the answer is byte for byte the same as that of one process, and files may lie on a node's local disk.
#include <algorithm>
#include <boost/mpi/collectives.hpp>
#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>
#include <boost/serialization/string.hpp>
#include <boost/serialization/vector.hpp>
#include <cstring>
#include <filesystem>
#include <map>
#include <system_error>
#include <type_traits>

#include "profiler/cli/fleet/fleet_answer.h"
#include "profiler/cli/fleet/mpi_explain.h"
#include "profiler/cli/fleet/mpi_files.h"
#include "profiler/cli/frame/terminal.h"
#include "profiler/cli/frame/verb.h"
#include "profiler/fleet/parts.h"
#include "profiler/fleet/summary_file.h"

namespace vramscope::cli {
namespace {

namespace fs = std::filesystem;
namespace mpi = boost::mpi;

// Steps are sent as they lie in memory. For a long run, process 0 would need longer to parse them than
// another process needs to compute them.
static_assert(std::is_trivially_copyable_v<fleet::StepFigures>);

std::string BytesOf(const std::vector<fleet::StepFigures>& steps) {
  std::string bytes(steps.size() * sizeof(fleet::StepFigures), '\0');
  if (!steps.empty()) std::memcpy(bytes.data(), steps.data(), bytes.size());
  return bytes;
}

std::vector<fleet::StepFigures> StepsOf(const std::string& bytes) {
  std::vector<fleet::StepFigures> steps(bytes.size() / sizeof(fleet::StepFigures));
  if (!steps.empty()) std::memcpy(steps.data(), bytes.data(), steps.size() * sizeof(fleet::StepFigures));
  return steps;
}

struct Read {
  std::vector<std::string> summaries;  // by file of this process, without steps; "" = it could not be read
  std::vector<std::vector<std::string>> steps;  // by file, by rank
  std::vector<std::string> sentences;           // why a file could not be read
  std::vector<char> is_snapshot;

  template <typename Archive>
  void serialize(Archive& archive, unsigned) {
    archive& summaries& steps& sentences& is_snapshot;
  }
};

Seen SeenOf(const std::string& path) {
  std::error_code failed;
  Seen seen{path, fs::file_size(path, failed), 0};
  if (failed) seen.bytes = 0;  // only its summary is here
  const auto changed = fs::last_write_time(path, failed);
  if (!failed) seen.changed = changed.time_since_epoch().count();
  return seen;
}

Plan Share(const std::vector<std::vector<Seen>>& seen) {
  std::map<Seen, std::vector<int>> seers;
  for (size_t process = 0; process < seen.size(); ++process)
    for (const Seen& file : seen[process]) seers[file].push_back(static_cast<int>(process));
  std::vector<const Seen*> order;
  for (const auto& [file, by] : seers) order.push_back(&file);
  std::stable_sort(order.begin(), order.end(),
                   [](const Seen* a, const Seen* b) { return a->bytes > b->bytes; });
  std::vector<uint64_t> load(seen.size());
  Plan plan;
  for (const Seen* const file : order) {
    const std::vector<int>& by = seers[*file];
    const int reader = *std::min_element(by.begin(), by.end(), [&](int a, int b) {
      return load[static_cast<size_t>(a)] < load[static_cast<size_t>(b)];
    });
    load[static_cast<size_t>(reader)] += file->bytes + 4096;
    plan.emplace(*file, reader);
  }
  return plan;
}

Read ReadOwn(const Plan& plan, int self) {
  Read read;
  for (const auto& [file, reader] : plan) {
    if (reader != self) continue;
    fleet::ReadRanks one = fleet::ReadFiles({file.path});
    std::vector<std::string>& steps = read.steps.emplace_back();
    for (fleet::RankSummary& rank : one.ranks) {
      steps.push_back(BytesOf(rank.steps));
      rank.steps.clear();
    }
    read.sentences.push_back(one.unreadable.empty() ? "" : one.unreadable.front());
    read.summaries.push_back(one.ranks.empty() ? "" : fleet::SummaryText(one.ranks, 0));
    read.is_snapshot.push_back(!one.ranks.empty() && one.ranks.front().is_snapshot ? 1 : 0);
  }
  return read;
}

// All ranks in the order of their files, as if one process had read them.
fleet::ReadRanks Gathered(const Plan& plan, const std::vector<Read>& read) {
  fleet::ReadRanks all;
  std::vector<size_t> next(read.size());
  for (const auto& [file, reader] : plan) {
    const Read& of = read[static_cast<size_t>(reader)];
    const size_t at = next[static_cast<size_t>(reader)]++;
    if (!of.sentences[at].empty()) all.unreadable.push_back(of.sentences[at]);
    if (of.summaries[at].empty()) continue;
    auto summary = fleet::ParseSummary(of.summaries[at], file.path);
    if (!summary.ok()) continue;  // never: the text is our own
    for (size_t i = 0; i < summary->ranks.size(); ++i) {
      fleet::RankSummary& rank = summary->ranks[i];
      rank.is_snapshot = of.is_snapshot[at] != 0;
      rank.steps = StepsOf(of.steps[at][i]);
      all.ranks.push_back(std::move(rank));
    }
  }
  fleet::JoinParts(all.ranks);
  return all;
}

Result<FleetRequest> MpiRequestFrom(const Arguments& arguments) {
  if (arguments.positionals().empty())
    return UsageError("fleet needs a folder or files: mpirun vramscope fleet --mpi job");
  if (arguments.Has("json") && arguments.Has("html"))
    return UsageError("--json and --html exclude each other. Keep one.");
  return FleetRequestFrom(arguments);
}

Result<int> MpiVerb(const Arguments& arguments, const Terminal& terminal) {
  const mpi::communicator world;
  const Result<FleetRequest> request = MpiRequestFrom(arguments);
  if (!request.ok())
    return world.rank() == 0 ? Result<int>(request.error()) : Result<int>(kBadInput);  // printed once
  std::vector<Seen> mine;
  const auto found = fleet::FindFiles(arguments.positionals());
  if (found.ok())  // else another process may see them
    for (const std::string& path : *found) mine.push_back(SeenOf(path));
  std::vector<std::vector<Seen>> seen;
  mpi::all_gather(world, mine, seen);
  const Plan plan = Share(seen);
  if (plan.empty()) return world.rank() == 0 ? Result<int>(found.error()) : Result<int>(kBadInput);
  KeepFreedMemory();
  Read own = ReadOwn(plan, world.rank());
  if (world.rank() != 0) {
    world.send(0, kSummaries, own);
    ServeProcessZero(world);
    return kDone;
  }
  std::vector<Read> read(static_cast<size_t>(world.size()));
  read[0] = std::move(own);
  for (int other = 1; other < world.size(); ++other) {
    WaitForMessage(world, other);
    world.recv(other, kSummaries, read[static_cast<size_t>(other)]);
  }
  const Result<int> code =
      AnswerFleet(Gathered(plan, read), SharedExplainer(world, seen, plan), *request, arguments, terminal);
  EndServing(world);
  return code;
}

}  // namespace
}  // namespace vramscope::cli

int main(int count, char** words) {
  const boost::mpi::environment environment(count, words);
  const std::vector<std::string> all(words + 1, words + count);
  return vramscope::cli::RunParsed(vramscope::cli::FleetHelp(),
                                   vramscope::cli::Arguments::Parse(vramscope::cli::FleetHelp(), all),
                                   vramscope::cli::MpiVerb);
}
