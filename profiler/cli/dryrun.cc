// SPDX-License-Identifier: Apache-2.0
// `vramscope dryrun`: the command on a GPU that is not there. Does it fit, what will it take.
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "profiler/classify/analysis.h"
#include "profiler/cli/arguments.h"
#include "profiler/cli/device_ledger.h"
#include "profiler/cli/report_screen.h"
#include "profiler/cli/size_text.h"
#include "profiler/cli/terminal.h"
#include "profiler/cli/verb.h"
#include "profiler/collector/record.h"
#include "profiler/collector/signal_relay.h"
#include "profiler/collector/simulated_device.h"
#include "profiler/report/build.h"
#include "profiler/report/json.h"

namespace vramscope::cli {
namespace {

constexpr int kMostDevices = 16;

const VerbHelp& Help() {
  static const VerbHelp help = {
      "dryrun",
      "does it fit on a GPU that is not there, and what will it take",
      "dryrun --gpu MODEL[:N] [options] [--] COMMAND...",
      {{"vramscope dryrun --gpu rtx-4090 -- python train.py", "PyTorch itself runs, nothing is computed"},
       {"vramscope dryrun --gpu h100-80gb --capacity 40GiB -o run.vms --json -- python train.py",
        "half of a GPU, with the trace kept"}},
      {{"gpu", '\0', "MODEL[:N]", "The GPU, and how many of it; 'list' shows the models."},
       {"capacity", '\0', "24GiB", "Memory of each GPU; default: the model's own."},
       {"output", 'o', "FILE", "Keep the trace there."},
       {"depth", '\0', "light|auto|deep|all", "How much is recorded, as for `vramscope record`."},
       {"json", '\0', nullptr,
        "Print one JSON document instead (docs/json.md); the command's own output goes to stderr."},
       {"color", '\0', "auto|always|never", "Colours; auto: on a terminal, unless NO_COLOR is set."}}};
  return help;
}

// A folder of our own for one run, gone with it.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "vramscope-dryrun-XXXXXX").string();
    if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// While it lives, what goes to standard output goes to standard error: --json prints one document and nothing
// else.
class StdoutToStderr {
 public:
  explicit StdoutToStderr(bool wanted) {
    if (!wanted) return;
    saved_ = dup(STDOUT_FILENO);
    if (saved_ >= 0) dup2(STDERR_FILENO, STDOUT_FILENO);
  }
  ~StdoutToStderr() {
    if (saved_ < 0) return;
    dup2(saved_, STDOUT_FILENO);
    close(saved_);
  }
  StdoutToStderr(const StdoutToStderr&) = delete;
  StdoutToStderr& operator=(const StdoutToStderr&) = delete;

 private:
  int saved_ = -1;
};

Result<collector::SimulatedDevice> DeviceFrom(const Arguments& arguments,
                                              const std::vector<collector::GpuModel>& models) {
  const std::string asked = arguments.Get("gpu");
  if (asked.empty()) return Error{"dryrun needs a GPU: vramscope dryrun --gpu h100-80gb -- python train.py"};
  const size_t colon = asked.find(':');
  const std::string name = asked.substr(0, colon);
  collector::SimulatedDevice device;
  if (colon != std::string::npos) device.devices = std::atoi(asked.c_str() + colon + 1);
  if (device.devices < 1 || device.devices > kMostDevices)
    return Error{fmt::format("--gpu {}: after the colon comes a number of GPUs, 1 to {}.", Printable(asked),
                             kMostDevices)};
  const auto found = std::ranges::find(models, name, &collector::GpuModel::name);
  if (found == models.end()) {
    std::vector<std::string> names;
    for (const collector::GpuModel& model : models) names.push_back(model.name);
    const auto near = Nearest(name, names);
    return Error{fmt::format("--gpu {}: no such model{}. See: vramscope dryrun --gpu list", Printable(name),
                             near ? fmt::format("; did you mean {}", *near) : "")};
  }
  device.gpu = *found;
  if (arguments.Has("capacity")) {
    const Result<uint64_t> capacity = ParseSize("capacity", arguments.Get("capacity"));
    if (!capacity.ok()) return capacity.error();
    device.capacity_bytes = *capacity;
  }
  return device;
}

int ListModels(const std::vector<collector::GpuModel>& models) {
  Table table({Align::kLeft, Align::kRight, Align::kLeft});
  for (const collector::GpuModel& model : models)
    table.AddRow({model.name, FormatBytes(model.capacity_bytes), model.product});
  fmt::print("{}", table.ToString());
  return kDone;
}

Result<collector::RecordOptions> OptionsFrom(const Arguments& arguments, const std::string& simulated,
                                             const collector::SimulatedDevice& device,
                                             const std::string& scratch) {
  collector::RecordOptions options;
  options.command = arguments.positionals();
  if (options.command.empty())
    return Error{"dryrun needs a command: vramscope dryrun --gpu h100-80gb -- python train.py"};
  options.output = arguments.Get("output", scratch + "/run.vms");
  options.device = "cuda";
  options.depth = arguments.Get("depth", options.depth);
  options.version = VRAMSCOPE_VERSION;
  if (const auto command = collector::CheckCommand(options.command); !command.ok()) return command.error();
  Result<collector::Installation> installation = collector::FindInstallation();
  if (!installation.ok()) return installation.error();
  options.installation = *installation;
  auto environment = collector::SimulatedEnvironment(simulated, options.command, device);
  if (!environment.ok()) return environment.error();
  options.environment = *environment;
  options.metadata["simulated.gpu"] = device.gpu.name;
  options.metadata["simulated.capacity_bytes"] = std::to_string(device.capacity_bytes);
  collector::FindBridge(options, {});
  return options;
}

// What the run says about the question.
struct Verdict {
  bool fits = true;
  uint64_t shortfall_bytes = 0;  // at least so much more would be needed
  DeviceLedger device;
};

Verdict Judge(const report::Answer& answer, DeviceLedger device) {
  Verdict verdict;
  verdict.fits = answer.out_of_memory.empty();
  verdict.device = std::move(device);
  if (!verdict.fits) verdict.shortfall_bytes = verdict.device.missing_bytes;
  return verdict;
}

std::string VerdictText(const Verdict& verdict, const report::Answer& answer,
                        const collector::SimulatedDevice& device, const Terminal& terminal) {
  const uint64_t capacity = verdict.device.capacity_bytes;
  const std::string gpu = fmt::format("{} ({})", device.gpu.name, FormatBytes(capacity));
  std::string text;
  if (verdict.fits) {
    text = terminal.Paint(
        fmt::format("Fits on {}: {} used at most, {} left.", gpu, FormatBytes(verdict.device.peak_bytes),
                    FormatBytes(capacity - std::min(capacity, verdict.device.peak_bytes))),
        Ink::Good());
  } else {
    const report::OutOfMemory& failed = answer.out_of_memory.back();
    const std::string step = failed.step != 0 ? fmt::format(" in step {}", failed.step) : "";
    text = terminal.Paint(
        fmt::format("Does not fit on {}: out of memory{}, at least {} missing for a request of {}.", gpu,
                    step, FormatBytes(verdict.shortfall_bytes), FormatBytes(failed.requested_bytes)),
        Ink::Bad());
  }
  Table table({Align::kLeft, Align::kRight});
  table.AddRow({"Peak allocated", FormatBytes(answer.peak.allocated_bytes)});
  if (answer.peak.reserved_bytes) table.AddRow({"Peak reserved", FormatBytes(*answer.peak.reserved_bytes)});
  table.AddRow({"Device used", FormatBytes(verdict.device.peak_bytes)});
  for (const LedgerEntry& entry : verdict.device.entries) {
    const std::string by =
        entry.library.empty() ? entry.call : fmt::format("{} by {}", entry.call, entry.library);
    table.AddRow({"  of these " + Printable(by), FormatBytes(entry.peak_bytes)});
  }
  return fmt::format(
      "{}\n{}Simulated: memory is PyTorch's own, results are not computed, data-dependent sizes are lower "
      "bounds.\n\n",
      text, table.ToString());
}

std::string VerdictJson(const Verdict& verdict, const report::Answer& answer,
                        const collector::SimulatedDevice& device) {
  auto document = nlohmann::ordered_json::parse(report::ToJson(answer));
  document["fits"] = verdict.fits;
  document["gpu"] = device.gpu.name;
  document["capacity_bytes"] = verdict.device.capacity_bytes;
  document["shortfall_bytes"] = verdict.shortfall_bytes;
  document["peak"]["device_used_bytes"] = verdict.device.peak_bytes;
  return document.dump(2);
}

int Show(const collector::RecordOutcome& outcome, const Arguments& arguments,
         const collector::SimulatedDevice& device, const std::string& ledgers, const Terminal& terminal) {
  DeviceLedger ledger = FullestDevice(ledgers);
  if (ledger.capacity_bytes == 0)
    return Fail(
        "The command did not use the simulated GPU, so there is nothing to judge. Does it choose the CPU?",
        kCannotJudge);
  const Result<model::Run> run = model::LoadFile(outcome.path);
  if (!run.ok()) return Fail(run.error().sentence);
  const classify::Analysis analysis(*run);
  const Result<report::Answer> answer = report::BuildAnswer(analysis, {});
  if (!answer.ok()) return Fail(answer.error().sentence, kCannotJudge);
  const Verdict verdict = Judge(*answer, std::move(ledger));
  if (arguments.Has("json")) {
    fmt::print("{}\n", VerdictJson(verdict, *answer, device));
  } else {
    fmt::print("{}{}", VerdictText(verdict, *answer, device, terminal),
               ReportScreen(outcome.path, *answer, OwnersShown::kFew, terminal));
  }
  return verdict.fits ? kDone : kNo;
}

int DryRun(const Arguments& arguments, const Terminal& terminal) {
  const Result<std::string> simulated = collector::FindSimulatedCuda();
  if (!simulated.ok()) return Fail(simulated.error().sentence);
  const Result<std::vector<collector::GpuModel>> models = collector::ListGpus(*simulated);
  if (!models.ok()) return Fail(models.error().sentence);
  if (arguments.Get("gpu") == "list") return ListModels(*models);
  Result<collector::SimulatedDevice> device = DeviceFrom(arguments, *models);
  if (!device.ok()) return Fail(device.error().sentence);
  const ScratchFolder scratch;
  if (scratch.path().empty())
    return Fail("No temporary folder can be made. Set TMPDIR to one that can be written.");
  device->ledger = scratch.path() + "/%p.json";
  const Result<collector::RecordOptions> options =
      OptionsFrom(arguments, *simulated, *device, scratch.path());
  if (!options.ok()) return Fail(options.error().sentence);

  Result<collector::RecordOutcome> outcome = [&] {
    const StdoutToStderr redirected(arguments.Has("json"));
    return collector::Record(*options);
  }();
  if (!outcome.ok()) return Fail(outcome.error().sentence);
  const int shown = Show(*outcome, arguments, *device, scratch.path(), terminal);
  if (shown == kNo) return kNo;  // that it does not fit is the answer, however the command ended
  if (WIFSIGNALED(outcome->wait_status)) collector::DieBySignal(WTERMSIG(outcome->wait_status));
  return WEXITSTATUS(outcome->wait_status) != 0 ? WEXITSTATUS(outcome->wait_status) : shown;
}

}  // namespace

int RunDryrun(std::span<const std::string> words) {
  return RunParsed(Help(), Arguments::ParseWithCommand(Help(), words), DryRun);
}

}  // namespace vramscope::cli
