// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "profiler/cli/frame/arguments.h"
#include "profiler/cli/frame/terminal.h"
#include "profiler/cli/frame/verb.h"
#include "profiler/cli/report/launch_text.h"
#include "profiler/cli/report/trace_facts.h"
#include "profiler/collector/output/seal.h"
#include "profiler/experiment/program_head.h"
#include "profiler/model/run.h"
#include "profiler/report/coverage_json.h"
#include "profiler/report/failed.h"
#include "profiler/report/notes.h"
#include "profiler/snapshot/run_file.h"
#include "profiler/text/json_dump.h"

namespace vramscope::cli {

const VerbHelp& InfoHelp() {
  static const VerbHelp help = {
      "info",
      "what is in a trace or snapshot: processes, devices, coverage, losses",
      "info [options] FILE",
      {{"vramscope info run.vms", "print a summary"},
       {"vramscope info run.vms --json | jq .coverage", "print one field for a script"}},
      {{"json", '\0', nullptr, "Print one JSON document instead."}}};
  return help;
}

namespace {

using trace::CoverageState;

constexpr int kInfoSchema = 1;

nlohmann::json ProcessesJson(const TraceFacts& facts) {
  nlohmann::json processes = nlohmann::json::array();
  for (const ProcessFacts& process : facts.processes) {
    const trace::ProcessInfo& info = process.info;
    nlohmann::json one = {{"pid", info.pid},
                          {"parent_pid", info.parent_pid},
                          {"role", process.role},
                          {"executable", info.executable},
                          {"command_line", info.command_line},
                          {"start_ns", info.start_ns},
                          {"end_ns", nullptr},
                          {"exit_status", nullptr},
                          {"events", process.events}};
    if (info.end_ns != 0) one["end_ns"] = info.end_ns;
    if (info.exit_status != -1) one["exit_status"] = info.exit_status;
    AddLaunch(process.launch, one);
    processes.push_back(std::move(one));
  }
  return processes;
}

nlohmann::json ProgramJson(const model::Source& source) {
  const auto program = experiment::ProgramOf(source.programs());
  if (!program) return nullptr;
  return {{"process", program->process},
          {"step", program->head.step},
          {"torch", program->head.torch},
          {"python", program->head.python},
          {"bytes", program->text.size()},
          {"runs_again", program->head.has_body},
          {"missing", program->head.missing},
          {"recorded_here", collector::IsSealedHere(program->text, program->seal)}};
}

nlohmann::json VariantsJson(const model::Source& source) {
  nlohmann::json variants = nlohmann::json::array();
  for (const auto& [key, trace] : source.variants())
    variants.push_back({{"key", key}, {"bytes", trace.size()}});
  return variants;
}

std::string InfoJson(const model::Source& source, uint64_t file_bytes, const TraceFacts& facts) {
  nlohmann::json devices = nlohmann::json::array();
  for (const DeviceFacts& device : facts.devices) {
    devices.push_back({{"device", model::DeviceName(device.code)},
                       {"allocations", device.allocations},
                       {"allocated_bytes", device.allocated_bytes}});
  }
  const trace::Damage& damage = source.damage();
  const nlohmann::json document = {{"schema_version", kInfoSchema},
                                   {"events", facts.events},
                                   {"events_by_type", facts.by_type},
                                   {"dropped_events", facts.dropped_events},
                                   {"start_realtime_ns", source.clock().start_realtime_ns},
                                   {"start_monotonic_ns", source.clock().start_monotonic_ns},
                                   {"first_time_ns", facts.first_time_ns},
                                   {"last_time_ns", facts.last_time_ns},
                                   {"file_bytes", file_bytes},
                                   {"steps", facts.steps},
                                   {"processes", ProcessesJson(facts)},
                                   {"devices", devices},
                                   {"driver",
                                    {{"calls", facts.driver.calls},
                                     {"failed", facts.driver.failed},
                                     {"samples", facts.driver.samples},
                                     {"allocations_by_library", facts.driver.by_library}}},
                                   {"nvtx",
                                    {{"ranges", facts.nvtx.ranges},
                                     {"ranges_by_name", facts.nvtx.by_name},
                                     {"named_memory", facts.nvtx.memory_names}}},
                                   {"coverage", report::CoverageJson(facts.hooks)},
                                   {"program", ProgramJson(source)},
                                   {"variants", VariantsJson(source)},
                                   {"metadata", source.metadata()},
                                   {"damage",
                                    {{"closed_cleanly", damage.closed_cleanly},
                                     {"unreadable_bytes", damage.bytes_unreadable},
                                     {"unreadable_blocks", damage.blocks_unreadable},
                                     {"sentence", damage.sentence}}}};
  // Foreign names need not be valid UTF-8.
  return text::Dump(document);
}

// The text form, part by part.
class InfoText {
 public:
  InfoText(std::string path, const model::Source& source, uint64_t file_bytes, const TraceFacts& facts,
           const Terminal& terminal)
      : path_(std::move(path)),
        source_(source),
        file_bytes_(file_bytes),
        facts_(facts),
        terminal_(terminal) {}

  std::string Build() const {
    return Headline() + Section("Run", RunTable()) + Section("Processes", ProcessTable()) +
           Section("Ranks", RankTable(facts_)) + Section("Devices", DeviceTable()) +
           Section("CUDA driver", DriverTable()) + Section("NVTX", NvtxTable()) +
           (facts_.hooks.empty() ? "" : Section(CoverageTitle(), CoverageTable())) +
           Section("Events", EventTable());
  }

 private:
  std::string Headline() const {
    const uint64_t span = facts_.last_time_ns - facts_.first_time_ns;
    std::string text = fmt::format("{}: {} of {} over {}, {}", terminal_.Paint(Printable(path_), Ink::Bold()),
                                   FormatCount(facts_.events, "event"),
                                   FormatCount(facts_.processes.size(), "process", "processes"),
                                   FormatDuration(span), FormatBytes(file_bytes_));
    if (facts_.events != 0) {
      const double per_event = static_cast<double>(file_bytes_) / static_cast<double>(facts_.events);
      text += fmt::format(" ({:.1f} bytes per event)", per_event);
    }
    const bool whole = source_.damage().sentence.empty();
    text += facts_.dropped_events == 0
                ? (whole ? ", nothing lost.\n" : ".\n")
                : ", " + terminal_.Paint(FormatCount(facts_.dropped_events, "event") + " lost", Ink::Bad()) +
                      ".\n";
    for (const std::string& trouble : {source_.damage().sentence, StopSentence(), NoBlocksSentence()}) {
      if (!trouble.empty()) text += terminal_.Paint(Printable(trouble), Ink::Warning()) + "\n";
    }
    return text;
  }

  std::string Section(std::string_view name, const std::string& table) const {
    return table.empty() ? "" : fmt::format("\n{}\n{}", terminal_.Paint(name, Ink::Bold()), table);
  }

  std::string Metadata(std::string_view key) const {
    const auto found = source_.metadata().find(key);
    return found == source_.metadata().end() ? "" : Printable(found->second);
  }

  std::string StopSentence() const {
    const std::string reason = Metadata("recording.stopped");
    return reason.empty() ? "" : fmt::format("Recording stopped before the program did: {}", reason);
  }

  std::string NoBlocksSentence() const {
    const bool has_blocks = std::ranges::any_of(
        facts_.devices, [](const DeviceFacts& device) { return trace::DeviceTypeOf(device.code) != 0; });
    if (has_blocks) return "";
    return facts_.devices.empty() ? report::WhyNoBlocks(source_.metadata())
                                  : report::CachingOff(source_.metadata());
  }

  std::string StartTime() const {
    const auto seconds = static_cast<std::time_t>(source_.clock().start_realtime_ns / 1'000'000'000);
    const std::tm* const local = seconds == 0 ? nullptr : std::localtime(&seconds);
    char text[64] = "";
    if (local != nullptr) std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", local);
    return text;
  }

  std::string RunTable() const {
    Table table({Align::kLeft, Align::kLeft});
    const auto add = [&](const char* name, const std::string& value) {
      if (!value.empty()) table.AddRow({name, value});
    };
    add("command", Metadata("command_line"));
    add("started", StartTime());
    add("source", Metadata("source"));
    add("allocator", Metadata("allocator.PYTORCH_CUDA_ALLOC_CONF"));
    const bool recorded = !Metadata("vramscope.version").empty();
    if (recorded)
      add("machine", fmt::format("{}, {} CPUs, {}", Metadata("host.cpu"), Metadata("host.cpus"),
                                 Metadata("host.kernel")));
    add("vramscope", Metadata("vramscope.version"));
    if (recorded)
      add("options",
          fmt::format("device {}, depth {} (steps {}), stacks {}", Metadata("option.device"),
                      Metadata("option.depth"), Metadata("option.deep_steps"), Metadata("option.stacks")));
    add("steps", facts_.steps == 0 ? "none recorded" : FormatCount(facts_.steps));
    add("program", ProgramText());
    if (!source_.variants().empty()) add("re-runs", FormatCount(source_.variants().size()) + " kept");
    add("left running", Metadata("recording.left_running"));
    for (const auto& [key, value] : source_.metadata()) {
      if (key.starts_with("env.")) add(key.c_str() + 4, Printable(value));
      if (!IsShownOrInternal(key)) add(key.c_str(), Printable(value));
    }
    return table.ToString();
  }

  std::string ProgramText() const {
    const auto program = experiment::ProgramOf(source_.programs());
    if (!program) return "";
    std::string text = program->head.has_body
                           ? fmt::format("step {}, {}", program->head.step, FormatBytes(program->text.size()))
                           : "could not be recorded";
    const std::vector<std::string>& missing = program->head.missing;
    if (!missing.empty())
      text += fmt::format("; {}{}", Printable(missing.front()),
                          missing.size() > 1 ? fmt::format(", and {} more", missing.size() - 1) : "");
    return text;
  }

  static bool IsShownOrInternal(std::string_view key) {
    static constexpr std::string_view kPrefixes[] = {"env.",       "host.",      "option.",  "command",
                                                     "vramscope.", "recording.", "process.", "check.",
                                                     "source",     "allocator."};
    return std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                       [&](std::string_view prefix) { return key.starts_with(prefix); });
  }

  std::string ProcessTable() const {
    Table table({Align::kRight, Align::kLeft, Align::kRight, Align::kRight, Align::kLeft, Align::kLeft});
    table.MayCut(5, terminal_);
    for (const ProcessFacts& process : facts_.processes) {
      const trace::ProcessInfo& info = process.info;
      const bool ended = info.end_ns > info.start_ns;
      table.AddRow({std::to_string(info.pid), process.role, FormatCount(process.events, "event"),
                    ended ? FormatDuration(info.end_ns - info.start_ns) : "",
                    report::ExitText(info.exit_status),
                    Printable(info.command_line.empty() ? info.executable : info.command_line)});
    }
    return table.ToString();
  }

  std::string DeviceTable() const {
    Table table({Align::kLeft, Align::kRight, Align::kRight});
    for (const DeviceFacts& device : facts_.devices) {
      table.AddRow({model::DeviceName(device.code), FormatCount(device.allocations, "allocation"),
                    FormatBytes(device.allocated_bytes) + " allocated in total"});
    }
    return table.ToString();
  }

  std::string DriverTable() const {
    const DriverFacts& driver = facts_.driver;
    if (driver.calls == 0) return "";
    Table table({Align::kLeft, Align::kRight, Align::kLeft});
    table.AddRow({"calls", FormatCount(driver.calls),
                  fmt::format("{} failed, {}", FormatCount(driver.failed),
                              FormatCount(driver.samples, "sample") + " of used memory")});
    for (const auto& [library, calls] : driver.by_library)
      table.AddRow({library.empty() ? "(driver)" : Printable(library), FormatCount(calls), "took memory"});
    return table.ToString();
  }

  // The most frequent names; --json has all.
  std::string NvtxTable() const {
    constexpr size_t kMostRows = 12;
    Table table({Align::kLeft, Align::kRight, Align::kLeft});
    table.MayCut(0, terminal_);
    const auto add = [&](const std::map<std::string, uint64_t>& names, const char* one, const char* what) {
      std::vector<std::pair<std::string, uint64_t>> rows(names.begin(), names.end());
      std::stable_sort(rows.begin(), rows.end(),
                       [](const auto& a, const auto& b) { return a.second > b.second; });
      for (size_t i = 0; i < std::min(rows.size(), kMostRows); ++i)
        table.AddRow({Printable(rows[i].first), FormatCount(rows[i].second, one), i == 0 ? what : ""});
      if (rows.size() > kMostRows)
        table.AddRow({fmt::format("and {} more names", rows.size() - kMostRows), "", ""});
    };
    add(facts_.nvtx.by_name, "range", "");
    add(facts_.nvtx.memory_names, "name", "of memory");
    return table.ToString();
  }

  std::string CoverageTitle() const {
    const auto count = [&](CoverageState state) {
      return std::count_if(facts_.hooks.begin(), facts_.hooks.end(),
                           [&](const model::Hook& hook) { return hook.state == state; });
    };
    const auto proven = count(CoverageState::kProven);
    const auto failed =
        std::ranges::count_if(facts_.hooks, [](const model::Hook& hook) { return hook.failures != 0; });
    return fmt::format("Coverage: {} of {} hooks in place, {} of them proven to work{}",
                       proven + count(CoverageState::kHooked), facts_.hooks.size(), proven,
                       failed == 0 ? "" : fmt::format(", {} failed", failed));
  }

  std::string CoverageTable() const {
    Table table({Align::kLeft, Align::kLeft, Align::kLeft});
    for (const model::Hook& hook : facts_.hooks) {
      const Ink ink = hook.state == CoverageState::kMissing    ? Ink::Warning()
                      : hook.state == CoverageState::kDisabled ? Ink::Dim()
                                                               : Ink::Plain();
      table.AddRow({Printable(hook.name), terminal_.Paint(report::CoverageStateKey(hook.state), ink),
                    Printable(hook.detail)});
      if (hook.failures != 0)
        table.AddRow({"", terminal_.Paint("failed", Ink::Bad()),
                      FormatCount(hook.failures, "time") + ", first: " + Printable(hook.failure)});
    }
    return table.ToString();
  }

  std::string EventTable() const {
    std::vector<std::pair<std::string, uint64_t>> rows(facts_.by_type.begin(), facts_.by_type.end());
    std::stable_sort(rows.begin(), rows.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    Table table({Align::kLeft, Align::kRight, Align::kRight, Align::kLeft});
    for (const auto& [name, count] : rows) {
      table.AddRow({name, FormatCount(count), FormatPercent(count, facts_.events),
                    terminal_.Bar(count, facts_.events, 24)});
    }
    return table.ToString();
  }

  std::string path_;
  const model::Source& source_;
  uint64_t file_bytes_;
  const TraceFacts& facts_;
  const Terminal& terminal_;
};

Result<int> InfoVerb(const Arguments& arguments, const Terminal& terminal) {
  if (arguments.positionals().size() != 1)
    return UsageError("info needs one trace or snapshot: vramscope info run.vms");
  const std::string& path = arguments.positionals().front();
  const auto source = VRAMSCOPE_TRY(snapshot::RunFile(path).OpenSource());
  const TraceFacts facts = GatherFacts(*source);
  std::error_code ignored;
  const uint64_t file_bytes = std::filesystem::file_size(path, ignored);
  if (arguments.Has("json")) {
    Print(InfoJson(*source, file_bytes, facts) + "\n");
  } else {
    Print(InfoText(path, *source, file_bytes, facts, terminal).Build());
  }
  return kDone;
}

}  // namespace

int RunInfo(std::span<const std::string> words) {
  return RunParsed(InfoHelp(), Arguments::Parse(InfoHelp(), words), InfoVerb);
}

}  // namespace vramscope::cli
