// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/target/attach.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "injector/attach/process_view.h"
#include "injector/attach/refusal.h"
#include "profiler/cli/frame/arguments.h"
#include "profiler/cli/frame/terminal.h"
#include "profiler/cli/record/recording_line.h"
#include "profiler/cli/record/recording_options.h"
#include "profiler/cli/record/recording_verb.h"
#include "profiler/collector/output/output_place.h"
#include "profiler/text/number.h"
#include "profiler/text/size_text.h"

namespace vramscope::cli {

const VerbHelp& AttachHelp() {
  static const VerbHelp help = {
      "attach",
      "record a running process for a while",
      "attach [options] PID",
      {{"vramscope attach 4711 --steps 5", "record five whole training steps; the program continues"},
       {"vramscope attach 4711 --duration 30s -o live.vms",
        "record 30 s, or until Ctrl-C, which ends only the recording"}},
      {{"output", 'o', "FILE",
        "Write the trace to this file; an old trace is replaced. In the name, %h is the host,\n"
        "%p the process ID of vramscope, %j the job, and %q{NAME} an environment variable."},
       {"steps", '\0', "5", "End the recording after this many whole training steps."},
       {"duration", '\0', "30s", "End the recording after this time: 500ms, 30s, 5m or 1h."},
       {"device", '\0', "auto|cpu|cuda|all",
        "Record the memory of these devices. auto: CUDA if the program uses it, else the CPU."},
       {"program", '\0', "on|off", kProgramHelp},
       {"max-size", '\0', "10GiB", "Stop recording when the trace reaches this size."},
       {"quiet", 'q', nullptr, "Print no summary line at the end."}}};
  return help;
}

namespace {

// Options that only `start` has. `attach` changes its process as little as possible: nobody prepared it.
std::vector<Option> WithMore(std::vector<Option> options) {
  const std::vector<Option> more = {
      {"black-box", '\0', "STEPS",
       "Keep only the last STEPS optimizer steps, in memory. They are written when memory runs out, or by\n"
       "vramscope dump; otherwise nothing is written."},
      {"depth", '\0', "light|auto|deep|all",
       "light (default): every allocation, with names. auto: also operators, in steps 2 to 4 of the "
       "recording.\n"
       "deep: also operators, for the steps of --deep-steps. all: also operators, for the whole recording."},
      {"deep-steps", '\0', "2-4",
       "The deep steps of --depth deep or auto: one or more ranges, separated by commas."},
      {"stacks", '\0', "none|python|native|all",
       "Record the call stacks of allocations, in deep steps; --depth is then auto."}};
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

}  // namespace

const VerbHelp& StartHelp() {
  static const VerbHelp help = {
      "start",
      "record a dormant process (record --dormant) for a while",
      "start [options] PID",
      {{"vramscope record --dormant -- python train.py",
        "run the program unrecorded; start can record it at any time"},
       {"vramscope start 4711 --steps 5", "record five steps, or until Ctrl-C or vramscope stop 4711"}},
      WithMore(AttachHelp().options)};
  return help;
}

namespace {

std::atomic<bool> interrupted = false;

Result<std::chrono::nanoseconds> ParseDuration(const std::string& text) {
  constexpr std::pair<std::string_view, uint64_t> kUnits[] = {
      {"ms", 1'000'000}, {"s", 1'000'000'000}, {"m", 60'000'000'000}, {"h", 3'600'000'000'000}};
  uint64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(parsed.ptr, static_cast<size_t>(text.data() + text.size() - parsed.ptr));
  for (const auto& [name, ns] : kUnits) {
    if (parsed.ec == std::errc() && unit == name && number > 0 && number < 1'000'000)
      return std::chrono::nanoseconds(number * ns);
  }
  return Error{fmt::format("--duration needs a time like 500ms, 30s, 5m or 1h, not '{}'.", Printable(text))};
}

Result<collector::AttachOptions> AttachOptionsFrom(const Arguments& arguments, const char* verb) {
  collector::AttachOptions options;
  options.pid = VRAMSCOPE_TRY(PidFrom(arguments, fmt::format("{} 4711 --steps 5", verb)));
  options.recording.output = VRAMSCOPE_TRY(collector::ExpandName(arguments.Get("output")));
  options.recording.say = Say;
  options.recording.device = arguments.Get("device", options.recording.device);
  options.recording.depth = "light";
  options.recording.version = VRAMSCOPE_VERSION;
  options.interrupted = &interrupted;
  const std::string& device = options.recording.device;
  if (device != "auto" && device != "cpu" && device != "cuda" && device != "all")
    return Error{fmt::format("--device must be one of auto, cpu, cuda, all, not '{}'.", Printable(device))};
  options.recording.program = false;  // only on request: changes an attached process less
  VRAMSCOPE_TRY(ReadProgram(arguments, options.recording));
  if (arguments.Has("steps")) {
    const std::string steps = arguments.Get("steps");
    options.steps = text::ParseNumber<uint64_t>(steps).value_or(0);
    if (options.steps == 0)
      return Error{
          fmt::format("--steps needs a number of training steps, 1 or more, not '{}'.", Printable(steps))};
  }
  if (arguments.Has("duration")) {
    options.duration = VRAMSCOPE_TRY(ParseDuration(arguments.Get("duration")));
  }
  if (arguments.Has("max-size")) {
    options.recording.max_bytes = VRAMSCOPE_TRY(text::ParseSize("max-size", arguments.Get("max-size")));
  }
  return options;
}

// Ctrl-C and similar signals end the recording; the recorded process is not affected.
void EndOnSignals() {
  struct sigaction action = {};
  action.sa_handler = [](int) { interrupted.store(true); };
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
}

void SayWhatHappened(const collector::AttachOptions& options, const collector::AttachOutcome& outcome) {
  std::fputs((Printable(RecordingLine(outcome.recording)) + "\n").c_str(), stderr);
  if (outcome.process_ended) {
    Say(fmt::format("Process {} ended during the recording.", options.pid));
  } else if (!outcome.let_go) {
    Say(fmt::format("Process {} is busy. It removes the recorder as soon as it can and records nothing more.",
                    options.pid));
  }
}

Result<int> RecordUntilEnough(const collector::AttachOptions& options, bool quiet) {
  EndOnSignals();
  const collector::AttachOutcome outcome = VRAMSCOPE_TRY(collector::RecordAttached(options));
  if (!quiet) SayWhatHappened(options, outcome);
  return kDone;
}

Result<int> AttachVerb(const Arguments& arguments, const Terminal&) {
  collector::AttachOptions options = VRAMSCOPE_TRY(AttachOptionsFrom(arguments, "attach"));
  options.recording.installation = VRAMSCOPE_TRY(collector::FindInstallation());
  VRAMSCOPE_TRY(attach::CheckTarget(options.pid));
  const bool quiet = arguments.Has("quiet");
  if (!quiet && !attach::HasPyTorch(options.pid))
    Say(fmt::format("Process {} has not loaded PyTorch. Recording begins when it does.", options.pid));
  return RecordUntilEnough(options, quiet);
}

std::vector<std::string> CommandOf(pid_t pid) {
  std::vector<std::string> words;
  const std::string line = attach::ReadProcFile(fmt::format("/proc/{}/cmdline", pid));
  for (size_t begin = 0; begin < line.size();) {
    const size_t end = std::min(line.find('\0', begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  if (words.empty()) words.emplace_back("python3");
  return words;
}

// Reads the options for deep steps of a dormant process, and finds the bridge as `record` does, from the
// command of this process.
Status ReadDepth(const Arguments& arguments, collector::AttachOptions& options) {
  collector::RecordOptions& recording = options.recording;
  recording.depth = arguments.Get("depth", arguments.Get("stacks", "none") == "none" ? "light" : "auto");
  recording.deep_steps = arguments.Get("deep-steps", recording.deep_steps);
  for (const Status& status : {CheckChoice("depth", recording.depth, {"light", "auto", "deep", "all"}),
                               CheckSteps(recording.deep_steps), ReadStacks(arguments, recording)}) {
    VRAMSCOPE_TRY(status);
  }
  if (recording.depth == "light") return {};
  recording.command = CommandOf(options.pid);
  collector::BridgeOptions wishes;
  wishes.progress = Say;
  collector::FindBridge(recording, wishes);
  return {};
}

Result<int> StartVerb(const Arguments& arguments, const Terminal&) {
  collector::AttachOptions options = VRAMSCOPE_TRY(AttachOptionsFrom(arguments, "start"));
  VRAMSCOPE_TRY(ReadDepth(arguments, options));
  VRAMSCOPE_TRY(ReadBlackBox(arguments, options.recording));
  options.recording.installation = VRAMSCOPE_TRY(collector::FindInstallation());
  options.through_door = true;
  return RecordUntilEnough(options, arguments.Has("quiet"));
}

}  // namespace

int RunAttach(std::span<const std::string> words) {
  return RunParsed(AttachHelp(), Arguments::Parse(AttachHelp(), words), AttachVerb);
}

int RunStart(std::span<const std::string> words) {
  return RunParsed(StartHelp(), Arguments::Parse(StartHelp(), words), StartVerb);
}

}  // namespace vramscope::cli
