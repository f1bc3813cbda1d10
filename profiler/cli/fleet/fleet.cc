// SPDX-License-Identifier: Apache-2.0
// `vramscope fleet`: all ranks of a job, which of them stand out, and why.
#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <limits>

#include "profiler/cli/fleet/fleet_answer.h"
#include "profiler/cli/fleet/fleet_screen.h"
#include "profiler/cli/fleet/orders.h"
#include "profiler/cli/frame/arguments.h"
#include "profiler/cli/frame/progress.h"
#include "profiler/cli/frame/terminal.h"
#include "profiler/cli/frame/verb.h"
#include "profiler/collector/output/new_file.h"
#include "profiler/fleet/job.h"
#include "profiler/fleet/read.h"
#include "profiler/fleet/words.h"
#include "profiler/html/answer_page.h"

namespace vramscope::cli {

const VerbHelp& FleetHelp() {
  static const VerbHelp help = {
      "fleet",
      "all ranks of a job: which stand out, and why",
      "fleet [options] FOLDER|FILE...",
      {{"vramscope record -o 'job/%r.vms' -- python train.py",
        "record one rank; run the same command on every rank"},
       {"vramscope fleet dump job",
        "make all black boxes of the job write their last steps (likewise: fleet start, fleet stop)"},
       {"mpirun -n 8 vramscope fleet --mpi job", "read many whole traces in eight processes"},
       {"vramscope fleet job", "compare all ranks of these files"},
       {"vramscope fleet run.vms --html job.html", "show the ranks of one trace as a picture"}},
      {{"json", '\0', nullptr, "Print one JSON document instead (docs/json.md)."},
       {"html", '\0', "OUT", "Write one HTML file instead, with a heat map of ranks and steps."},
       {"top", '\0', "N", "List this many ranks, 0 = all. Default: 32. --json has all of them."},
       {"mpi", '\0', nullptr, "Share the reading among the processes of mpirun or srun."},
       {"step", '\0', "N", "With dump: write the last steps when optimizer step N has finished."},
       {"explain", '\0', "N",
        "Read the traces of this many outliers, the largest first, to find the cause; default 8.\n"
        "The other outliers are listed without a cause."},
       {"spread-below", '\0', "N%",
        "Exit with 1 if the peaks of peers differ by this share of their median or more."}}};
  return help;
}

namespace {

constexpr uint64_t kFilesForProgress = 32;

// Replaces this process with vramscope-fleet-mpi, the only program that links MPI. So nobody else needs MPI.
Error RunUnderMpi(const std::vector<std::string>& words) {
  std::error_code failed;
  const std::string program =
      (std::filesystem::read_symlink("/proc/self/exe", failed).parent_path() / kFleetMpiProgram).string();
  std::vector<std::string> all = {program};
  std::copy_if(words.begin(), words.end(), std::back_inserter(all),
               [](const std::string& word) { return word != "--mpi"; });
  std::vector<char*> pointers;
  for (std::string& word : all) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execv(program.c_str(), pointers.data());
  return Error{
      fmt::format("{}: {}. This program is built only if CMake finds MPI and Boost.MPI: see docs/fleet.md.",
                  program, strerror(errno))};
}

}  // namespace

void KeepFreedMemory() {
  mallopt(M_MMAP_MAX, 0);  // memory from mmap always goes back to the system
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
}

Result<FleetRequest> FleetRequestFrom(const Arguments& arguments) {
  FleetRequest request;
  for (const auto& [option, value] :
       {std::pair{"top", &request.top}, std::pair{"explain", &request.explained}}) {
    if (!arguments.Has(option)) continue;
    *value = VRAMSCOPE_TRY(NumberOf(arguments, option));
  }
  if (arguments.Has("spread-below"))
    request.most_spread = VRAMSCOPE_TRY(ShareOf("spread-below", arguments.Get("spread-below")));
  return request;
}

namespace {

Result<fleet::ReadRanks> ReadFleet(const Arguments& arguments) {
  const auto files = VRAMSCOPE_TRY(fleet::FindFiles(arguments.positionals()));
  fleet::ReadRanks read;
  {
    ProgressLine line(arguments, files.size() > kFilesForProgress ? UINT64_MAX : 0);
    read = fleet::ReadFiles(files, [&](size_t file) { line.Show("Reading", "files", file, files.size()); });
  }
  return read;
}

Status WriteFleetPage(const fleet::Job& job, const Arguments& arguments) {
  const std::string out = arguments.Get("html");
  const std::string page = html::MakeFleetPage({.document = fleet::PageJson(job),
                                                .headline = fleet::Headline(job),
                                                .title = Printable(arguments.positionals().front()),
                                                .version = VRAMSCOPE_VERSION});
  std::vector<std::string> inputs;
  for (const fleet::RankSummary& rank : job.ranks) inputs.push_back(rank.file);
  collector::NewFile file = VRAMSCOPE_TRY(collector::NewFile::Create(out, inputs));
  VRAMSCOPE_TRY(file.Write(page));
  return file.Commit();
}

// True if the peaks of some peers are too far apart. Then prints which.
bool SpreadIsBroken(const fleet::Job& job, const FleetRequest& request) {
  if (request.most_spread < 0) return false;
  for (const fleet::PeerGroup& group : job.groups) {
    if (group.allocated.share() < request.most_spread) continue;
    Say(fmt::format("the peaks of {} like {} differ by {:.1f} %, but the difference must be below {:g} %.",
                    FormatCount(group.members.size(), "rank"), job.NameOf(group.typical),
                    100 * group.allocated.share(), 100 * request.most_spread));
    return true;
  }
  return false;
}

Result<int> FleetVerb(const Arguments& arguments, const Terminal& terminal) {
  if (arguments.positionals().empty())
    return UsageError("fleet needs a folder or files: vramscope fleet job");
  if (IsOrder(arguments.positionals())) return RunOrder(arguments);
  if (arguments.Has("json") && arguments.Has("html"))
    return UsageError("--json and --html exclude each other. Keep one.");
  const FleetRequest request = VRAMSCOPE_TRY(FleetRequestFrom(arguments));
  KeepFreedMemory();
  fleet::ReadRanks read = VRAMSCOPE_TRY(ReadFleet(arguments));
  return AnswerFleet(std::move(read), fleet::ExplainHere(fleet::SideOpener()), request, arguments, terminal);
}

}  // namespace

Result<int> AnswerFleet(fleet::ReadRanks read, const fleet::Explainer& explain, const FleetRequest& request,
                        const Arguments& arguments, const Terminal& terminal) {
  if (read.ranks.empty())
    return Error{read.unreadable.empty() ? "there are no ranks in these files." : read.unreadable.front()};
  for (const std::string& sentence : read.unreadable)
    if (!arguments.Has("quiet")) Say(sentence);
  const fleet::Job job = fleet::Compare(std::move(read.ranks), explain, request.explained);
  if (arguments.Has("html")) {
    VRAMSCOPE_TRY(WriteFleetPage(job, arguments));
  } else if (arguments.Has("json")) {
    Print(fleet::ToJson(job) + "\n");
  } else {
    Print(FleetScreen(job, request.top, terminal));
  }
  return SpreadIsBroken(job, request) ? kNo : kDone;
}

int RunFleet(std::span<const std::string> words) {
  if (std::find(words.begin(), words.end(), "--mpi") != words.end())
    return Fail(RunUnderMpi({words.begin(), words.end()}));
  return RunParsed(FleetHelp(), Arguments::Parse(FleetHelp(), words), FleetVerb);
}

}  // namespace vramscope::cli
