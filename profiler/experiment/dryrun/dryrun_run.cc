// SPDX-License-Identifier: Apache-2.0
#include "profiler/experiment/dryrun/dryrun_run.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <tuple>

#include "profiler/classify/analysis.h"
#include "profiler/collector/output/scratch_folder.h"
#include "profiler/collector/output/whole_file.h"
#include "profiler/experiment/dryrun/command_output.h"
#include "profiler/fragmentation/trace_subject.h"
#include "profiler/report/build.h"
#include "trace_format/device_use.h"

namespace vramscope::experiment {
namespace {

constexpr char kSharedFile[] = "/devices";  // in the scratch folder
constexpr std::string_view kJax = "JAX";
constexpr int kMostDevicesOfJax = 8;

// The contents of all files with this extension that processes of the run left in `folder`.
std::vector<std::string> Notes(const std::string& folder, const char* extension) {
  std::vector<std::string> texts;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == extension) texts.push_back(collector::ReadWhole(entry.path().string()));
  }
  return texts;
}

// Each line: "sizes\t3\ttrain.py\t41"; sums all processes. Other lines are skipped.
void ReadDataReads(const std::string& folder, DryrunResult& result) {
  std::map<std::tuple<bool, std::string, uint64_t>, uint64_t> counts;
  for (const std::string& text : Notes(folder, ".reads")) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream fields(line);
      std::string kind, count, file, number;
      if (!std::getline(fields, kind, '\t') || !std::getline(fields, count, '\t') ||
          !std::getline(fields, file, '\t') || !std::getline(fields, number))
        continue;
      if (kind == "vector") {
        result.read_vectors = true;
        continue;
      }
      counts[{kind == "sizes", file, std::strtoull(number.c_str(), nullptr, 10)}] +=
          std::strtoull(count.c_str(), nullptr, 10);
    }
  }
  for (const auto& [place, count] : counts)
    result.data_reads.push_back({std::get<0>(place), std::get<1>(place), std::get<2>(place), count});
  std::ranges::stable_sort(result.data_reads, std::greater<>(),
                           [](const DataRead& read) { return std::pair(read.sizes, read.count); });
}

// The bytes that the fullest device lacked; if it refused nothing, those of the device that lacked most.
uint64_t Shortfall(const DeviceLedger& fullest, const std::vector<DeviceLedger>& all) {
  if (fullest.missing_bytes != 0) return fullest.missing_bytes;
  return std::ranges::max(all, {}, &DeviceLedger::missing_bytes).missing_bytes;
}

// Each line: "model\t411041792"; sums all processes.
void ReadWorkspaces(const std::string& folder, ConvolutionWorkspaces& workspaces,
                    UncountedWorkspaces& uncounted) {
  for (const std::string& text : Notes(folder, ".cudnn")) {
    std::istringstream lines(text);
    std::string source;
    for (uint64_t bytes = 0; lines >> source >> bytes;) {
      if (source == "attention" || source == "batch_norm") {
        (source == "attention" ? uncounted.attention : uncounted.batch_norm) = true;
        continue;
      }
      (source == "cudnn" ? workspaces.asked : workspaces.estimated) = true;
      workspaces.largest_bytes = std::max(workspaces.largest_bytes, bytes);
    }
  }
}

// Reads what is needed to judge other GPUs from this run.
void ReadOtherGpus(const std::string& folder, const classify::Analysis& analysis, DryrunResult& result) {
  result.elsewhere = ReadElsewhere(folder, result.ledger.processes);
  if (result.uncounted.attention) result.elsewhere.fused_attention = true;  // cuDNN's
  if (result.ledger.processes.size() > 1) return;
  const model::DeviceIndex device = report::DeviceOf(analysis.run(), result.answer);
  if (device == model::kNone) return;
  auto subject = fragmentation::SubjectOf(analysis, device);
  if (subject.ok()) result.history = std::move(subject->history);
}

// If the program continues to allocate and succeeds after an out-of-memory error, it handled the error: it
// may have halved its batch.
void NoteSurvived(const model::Run& run, DryrunResult& result) {
  if (result.wait_status != 0 || run.out_of_memory.empty()) return;
  const model::EventIndex last = std::ranges::max(run.out_of_memory, {}, &model::OutOfMemory::event).event;
  if (run.FirstBlockFrom(last + 1) >= run.blocks.size()) return;
  result.survived_errors = run.out_of_memory.size();
  for (const report::Step& step : result.answer.steps) {
    if (step.begin_ns < result.answer.out_of_memory.back().time_ns) continue;
    result.allocated_after_bytes =
        std::max(result.allocated_after_bytes.value_or(0), step.peak.allocated_bytes);
  }
}

std::string DryrunSettings(const DryrunPlan& plan, const RunVariant& variant,
                           const std::optional<LoneRank>& lone_rank, const std::string& scratch) {
  std::string text = fmt::format("steps={};init={}", plan.steps, plan.keep_init ? "keep" : "skip");
  if (!plan.xla) text += ";xla=off";
  if (lone_rank) text += fmt::format(";world={};rank={}", lone_rank->world, lone_rank->rank);
  if (variant.order != 0) text += fmt::format(";order={}", variant.order);
  if (variant.assumed)
    text += fmt::format(";masks={};routing={}", variant.assumed->masks,
                        variant.assumed->balanced_routing ? "balanced" : "worst");
  return text + ";notes=" + scratch;  // last: TMPDIR may contain any character
}

// Code that inductor and Triton compile for the simulated device has no machine code. It must not get into
// caches that a real GPU would use, whoever configured them.
void KeepCompiledCode(const std::string& scratch, std::map<std::string, std::string>& environment) {
  environment["TORCHINDUCTOR_CACHE_DIR"] = scratch + "/inductor";
  environment["TRITON_CACHE_DIR"] = scratch + "/triton";
  for (const char* cache : {"FX_GRAPH", "AUTOTUNE", "BUNDLED_AUTOTUNE"})
    environment[fmt::format("TORCHINDUCTOR_{}_REMOTE_CACHE", cache)] = "0";
}

// Sets what torchrun would set for that rank.
void AddRank(const LoneRank& lone, uint64_t devices, std::map<std::string, std::string>& environment) {
  environment["WORLD_SIZE"] = std::to_string(lone.world);
  environment["RANK"] = std::to_string(lone.rank);
  environment["LOCAL_RANK"] = std::to_string(lone.rank % devices);
  environment["LOCAL_WORLD_SIZE"] = std::to_string(std::min(lone.world, devices));
  environment["GROUP_RANK"] = std::to_string(lone.rank / devices);
  environment["MASTER_ADDR"] = "127.0.0.1";
  environment["MASTER_PORT"] = "29500";
}

// Up to eight GPUs, one JAX process has them all. For a larger mesh, the command runs as one process, with
// one GPU, of a job. No machine has more than eight GPUs, and JAX's own tables for each GPU take 1/32 of its
// memory on the host.
std::optional<LoneRank> OneOfAJob(const std::vector<std::string>& command, std::optional<LoneRank> lone_rank,
                                  collector::SimulatedDevice& device) {
  if (lone_rank || device.devices <= kMostDevicesOfJax || !collector::UsesJax(command)) return lone_rank;
  lone_rank = LoneRank{static_cast<uint64_t>(device.devices), 0};
  device.devices = 1;
  return lone_rank;
}

std::string ReadWithoutXla(const std::string& folder) {
  const std::vector<std::string> notes = Notes(folder, ".xla");
  return notes.empty() ? "" : notes.front();
}

}  // namespace

void ReadStop(const std::string& folder, DryrunResult& result) {
  for (const std::string& text : Notes(folder, ".stop")) {
    const auto document = nlohmann::json::parse(text, nullptr, false);
    if (!document.is_object()) continue;
    result.stopped_after = document.value("steps", 0u);
    result.stopped_by_calm = document.value("reason", "") == "stable";
    if (document.value("reason", "") == "waiting")
      result.waits_at = fmt::format("{}:{}", document.value("file", ""), document.value("line", 0));
  }
}

std::vector<std::string> WithBatch(const std::vector<std::string>& command, uint64_t batch) {
  std::vector<std::string> words = command;
  for (std::string& word : words) {
    for (size_t at = word.find(kBatchWord); at != std::string::npos; at = word.find(kBatchWord, at))
      word.replace(at, sizeof(kBatchWord) - 1, std::to_string(batch));
  }
  return words;
}

AssumedValues FullMasks(const DryrunPlan& plan) { return {1, plan.balanced_routing.value_or(true)}; }

std::string EndingText(int wait_status) {
  if (WIFSIGNALED(wait_status))
    return fmt::format("signal {} ({})", WTERMSIG(wait_status), strsignal(WTERMSIG(wait_status)));
  return fmt::format("exit code {}", WEXITSTATUS(wait_status));
}

std::string DryrunResult::WhyNotJudged() const {
  if (!fits) return "";
  if (wait_status != 0)
    return fmt::format("the command {} {}", WIFSIGNALED(wait_status) ? "was ended by" : "failed with",
                       EndingText(wait_status));
  if (!used_device) return "the command did not use the simulated GPU";
  if (upper && upper->fits == false) return "it depends on the data";
  return "";
}

std::optional<bool> DryrunResult::Verdict() const {
  if (!WhyNotJudged().empty()) return std::nullopt;
  return fits;
}

uint64_t DryrunResult::PeakReserved() const {
  const report::Device* device = answer.ChosenDevice();
  return device == nullptr ? 0 : device->peak_reserved_bytes.value_or(0);
}

Result<collector::RecordOptions> DryrunRunner::OptionsFor(const std::vector<std::string>& command,
                                                          const collector::SimulatedDevice& device,
                                                          const RunVariant& variant,
                                                          const std::optional<LoneRank>& lone_rank,
                                                          const std::string& scratch) const {
  collector::RecordOptions options;
  options.command = command;
  options.output = plan_.output.empty() || !variant.keeps_trace ? scratch + "/run.vms" : plan_.output;
  options.device = "cuda";
  if (!plan_.depth.empty()) options.depth = plan_.depth;
  // Times of a dry run are not used, so setup and first step can be recorded in full.
  options.deep_steps = "1-4";
  if (!plan_.stacks.empty()) options.stacks = plan_.stacks;
  options.embed_source = plan_.embed_source;
  if (!plan_.deep_steps.empty()) options.deep_steps = plan_.deep_steps;
  options.program = plan_.program;
  options.version = VRAMSCOPE_VERSION;
  options.say = plan_.say;
  VRAMSCOPE_TRY(collector::CheckCommand(command));
  options.installation = VRAMSCOPE_TRY(collector::FindInstallation());
  options.environment = VRAMSCOPE_TRY(collector::SimulatedEnvironment(simulated_folder_, command, device));
  options.environment[trace::kDeviceUseVariable] = scratch + kSharedFile;
  options.environment["VRAMSCOPE_SIMULATED_READS"] = scratch + "/%p.reads";
  options.environment["VRAMSCOPE_SIMULATED_CUDNN_NOTES"] = scratch + "/%p.cudnn";
  if (!plan_.table.empty()) options.environment["VRAMSCOPE_SIMULATED_ELSEWHERE"] = scratch + "/%p.elsewhere";
  options.environment["VRAMSCOPE_DRYRUN"] = DryrunSettings(plan_, variant, lone_rank, scratch);
  options.environment["PYTHONPATH"] =
      (std::filesystem::path(options.installation->python_shim).parent_path() / "dryrun").string();
  KeepCompiledCode(scratch, options.environment);
  for (const auto& [name, value] : plan_.environment) options.environment[name] = value;
  if (lone_rank) AddRank(*lone_rank, static_cast<uint64_t>(device.devices), options.environment);
  if (!plan_.tried.empty()) options.metadata["try.change"] = plan_.tried;
  options.metadata["simulated.gpu"] = device.gpu.name;
  options.metadata["simulated.capacity_bytes"] = std::to_string(device.capacity_bytes);
  collector::BridgeOptions wishes;
  wishes.progress = plan_.say;
  collector::FindBridge(options, wishes);
  return options;
}

Result<DryrunResult> DryrunRunner::Run(const std::vector<std::string>& command,
                                       const collector::SimulatedDevice& asked, CommandOutput output,
                                       std::string* log_text, const RunVariant& variant) {
  const collector::ScratchFolder scratch;
  if (scratch.path().empty())
    return Error{"Cannot create a temporary folder. Set TMPDIR to a writable folder."};
  DryrunResult result;
  result.device = asked;
  result.device.ledger = scratch.path() + "/%p.json";
  const std::optional<LoneRank> lone_rank = OneOfAJob(command, plan_.lone_rank, result.device);
  const collector::RecordOptions options =
      VRAMSCOPE_TRY(OptionsFor(command, result.device, variant, lone_rank, scratch.path()));
  const std::string log = scratch.path() + "/output.txt";
  const collector::RecordOutcome outcome = VRAMSCOPE_TRY([&] {
    const Redirected redirected(output, log);
    return collector::Record(options);
  }());
  if (log_text != nullptr) *log_text = collector::ReadWhole(log);
  result.trace = outcome.path;
  result.wait_status = outcome.wait_status;
  result.assumed = variant.assumed;
  const std::vector<DeviceLedger> ledgers =
      ReadDeviceLedgers(scratch.path(), scratch.path() + kSharedFile,
                        asked.capacity_bytes != 0 ? asked.capacity_bytes : asked.gpu.capacity_bytes);
  result.ledger = Fullest(ledgers);
  result.used_device = result.ledger.capacity_bytes != 0;
  if (!result.used_device) return result;
  ReadStop(scratch.path(), result);
  result.without_xla = ReadWithoutXla(scratch.path());
  ReadDataReads(scratch.path(), result);
  ReadWorkspaces(scratch.path(), result.workspaces, result.uncounted);
  const model::Run run = VRAMSCOPE_TRY(model::LoadFile(outcome.path));
  const classify::Analysis analysis(run);
  result.answer = VRAMSCOPE_TRY(report::BuildAnswer(analysis, {}));
  if (lone_rank && result.answer.framework->name == kJax) result.job_processes = lone_rank->world;
  NoteSurvived(run, result);
  result.fits = result.answer.out_of_memory.size() == result.survived_errors;
  if (result.fits && result.wait_status != 0) {
    for (const DeviceLedger& ledger : ledgers)
      if (!ledger.refused_beside.empty()) result.refused_beside = ledger.refused_beside;
    result.fits = result.refused_beside.empty();
  }
  if (!result.fits) result.shortfall_bytes = Shortfall(result.ledger, ledgers);
  if (result.fits && !plan_.table.empty()) ReadOtherGpus(scratch.path(), analysis, result);
  return result;
}

}  // namespace vramscope::experiment
