// SPDX-License-Identifier: Apache-2.0
// vramscope-fleet-mpi: `vramscope fleet` with many processes, started by `mpirun|srun vramscope fleet --mpi FOLDER`.
//
//   every process lists the files that it sees     names, sizes, times of change
//   each file goes to one that sees it             the largest first, to the one that has least to do
//   ranks become summaries where their files lie   text of summary_file.h, gathered by process 0
//   process 0 compares, and asks for the traces    a trace that it does not see is sent to it
//   of outliers                                    and removed when it is read
//
// So the answer is that of one process to the byte, and disks may be local to their nodes.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <boost/mpi/collectives.hpp>
#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>
#include <boost/serialization/string.hpp>
#include <boost/serialization/vector.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <system_error>
#include <tuple>
#include <type_traits>

#include "profiler/cli/fleet/fleet_answer.h"
#include "profiler/cli/frame/terminal.h"
#include "profiler/cli/frame/verb.h"
#include "profiler/fleet/parts.h"
#include "profiler/fleet/summary_file.h"

namespace vramscope::cli {
namespace {

namespace fs = std::filesystem;
namespace mpi = boost::mpi;

constexpr int kAsk = 1;   // process 0 asks for a file; "" = nothing more
constexpr int kPart = 2;  // a part of it; an empty one is the end
constexpr size_t kPartBytes = 16 << 20;

struct Seen {
  std::string path;
  uint64_t bytes = 0;
  int64_t changed = 0;  // tells files of one name on the disks of several nodes apart

  template <typename Archive>
  void serialize(Archive& archive, unsigned) {
    archive& path& bytes& changed;
  }
  friend bool operator<(const Seen& a, const Seen& b) {
    return std::tie(a.path, a.changed, a.bytes) < std::tie(b.path, b.changed, b.bytes);
  }
};

// Steps travel as they lie in memory: process 0 would need longer to parse those of a long run than another
// process to make them.
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

// What each file is read by.
using Plan = std::map<Seen, int>;

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

// In the order of their files, as one process reads them.
fleet::ReadRanks Gathered(const Plan& plan, const std::vector<Read>& read) {
  fleet::ReadRanks all;
  std::vector<size_t> next(read.size());
  for (const auto& [file, reader] : plan) {
    const Read& of = read[static_cast<size_t>(reader)];
    const size_t at = next[static_cast<size_t>(reader)]++;
    if (!of.sentences[at].empty()) all.unreadable.push_back(of.sentences[at]);
    if (of.summaries[at].empty()) continue;
    auto summary = fleet::ParseSummary(of.summaries[at], file.path);
    if (!summary.ok()) continue;  // it is our own text
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

// A trace that another process sees, in a file of our own while it is needed.
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
    world_.send(reader->second, kAsk, rank.file);
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

void SendWhatIsAsked(const mpi::communicator& world) {
  for (std::string path;;) {
    world.recv(0, kAsk, path);
    if (path.empty()) return;
    std::ifstream file(path, std::ios::binary);
    for (std::string part(kPartBytes, '\0'); file.read(part.data(), kPartBytes) || file.gcount() > 0;)
      world.send(0, kPart, part.substr(0, static_cast<size_t>(file.gcount())));
    world.send(0, kPart, std::string());
  }
}

Result<int> MpiVerb(const Arguments& arguments, const Terminal& terminal) {
  const mpi::communicator world;
  if (arguments.positionals().empty())
    return UsageError("fleet needs a folder or files: mpirun vramscope fleet --mpi job");
  const FleetRequest request = VRAMSCOPE_TRY(FleetRequestFrom(arguments));
  std::vector<Seen> mine;
  const auto found = fleet::FindFiles(arguments.positionals());
  if (found.ok())  // else another process may see them
    for (const std::string& path : *found) mine.push_back(SeenOf(path));
  std::vector<std::vector<Seen>> seen;
  mpi::all_gather(world, mine, seen);
  const Plan plan = Share(seen);
  if (plan.empty()) return world.rank() == 0 ? Result<int>(found.error()) : Result<int>(kBadInput);
  std::vector<Read> read;
  mpi::gather(world, ReadOwn(plan, world.rank()), read, 0);
  if (world.rank() != 0) {
    SendWhatIsAsked(world);
    return kDone;
  }
  Fetcher fetcher(world, plan);
  Result<int> code = AnswerFleet(
      Gathered(plan, read), [&](const fleet::RankSummary& rank) { return fetcher.Open(rank); }, request,
      arguments, terminal);
  for (int other = 1; other < world.size(); ++other) world.send(other, kAsk, std::string());
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
