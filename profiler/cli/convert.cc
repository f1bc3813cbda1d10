// SPDX-License-Identifier: Apache-2.0
// `vramscope convert`: a PyTorch snapshot as a trace, a trace as a PyTorch snapshot.
#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "profiler/cli/arguments.h"
#include "profiler/cli/new_file.h"
#include "profiler/cli/terminal.h"
#include "profiler/cli/verb.h"
#include "profiler/report/device_choice.h"
#include "profiler/snapshot/from_source.h"
#include "profiler/snapshot/read.h"
#include "profiler/snapshot/source.h"
#include "profiler/snapshot/to_trace.h"
#include "profiler/snapshot/write.h"

namespace vramscope::cli {
namespace {

const VerbHelp& Help() {
  static const VerbHelp help = {
      "convert",
      "a PyTorch memory snapshot to a trace, or back",
      "convert [options] FROM TO",
      {{"vramscope convert snapshot.pickle run.vms", "a snapshot as a trace"},
       {"vramscope convert run.vms peak.pickle --at peak", "the peak of a run, for PyTorch's memory_viz"}},
      {{"at", '\0', "T", "Only what was until then: peak, or nanoseconds since the trace's start."},
       {"process", '\0', "PID", "Which process a snapshot is about; default: the one with the largest peak."},
       {"color", '\0', "auto|always|never", "Colours; auto: on a terminal, unless NO_COLOR is set."}}};
  return help;
}

enum class Form : uint8_t { kTrace, kPickle };

Result<Form> FormOf(const std::string& path) {
  if (path.ends_with(".vms")) return Form::kTrace;
  if (path.ends_with(".pickle") || path.ends_with(".pkl")) return Form::kPickle;
  return Error{path + ": its name must say what to write: .vms for a trace, .pickle for a PyTorch snapshot."};
}

Result<std::optional<uint32_t>> Pid(const Arguments& arguments) {
  if (!arguments.Has("process")) return std::optional<uint32_t>();
  const std::string text = arguments.Get("process");
  uint32_t pid = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pid);
  if (error == std::errc() && end == text.data() + text.size()) return std::optional(pid);
  return Error{fmt::format("--process needs a number, not \"{}\".", text)};
}

// Which process, and until which event.
Result<snapshot::Cut> FindCut(const std::shared_ptr<const model::Source>& source,
                              const Arguments& arguments) {
  const auto pid = Pid(arguments);
  if (!pid.ok()) return pid.error();
  const auto moment = report::ParseMoment(arguments.Get("at", "peak"));
  if (!moment.ok()) return moment.error();
  using Kind = report::MomentSpec::Kind;
  if (moment->kind != Kind::kPeak && moment->kind != Kind::kTime)
    return Error{"convert --at takes peak or a time in nanoseconds."};

  const Result<model::Run> run = model::Load(source);
  if (!run.ok()) return run.error();
  std::vector<timeline::DeviceCurve> curves;
  for (model::DeviceIndex device = 0; device < run->devices.size(); ++device)
    curves.emplace_back(*run, device);
  report::Request request;
  request.pid = *pid;
  const Result<model::DeviceIndex> device = report::ChooseDevice(*run, curves, request);
  if (!device.ok()) return device.error();
  if (*device == model::kNone)
    return Error{"nothing was allocated in this run, so there is nothing to write."};

  snapshot::Cut cut;
  cut.process = run->devices[*device].process;
  if (!arguments.Has("at")) return cut;
  const model::EventIndex last =
      moment->kind == Kind::kPeak ? curves[*device].peak().event : run->times.LastEventAt(moment->value);
  cut.events = last == model::kNever ? 0 : uint64_t{last} + 1;
  return cut;
}

Status WriteSnapshot(const std::string& from, const Arguments& arguments, trace::ByteSink* sink) {
  const bool as_it_is = snapshot::LooksLikeSnapshot(from) && !arguments.Has("at");
  if (as_it_is) {
    const auto read = snapshot::Read(from);
    return read.ok() ? snapshot::WritePickle(**read, sink) : Status(read.error());
  }
  const auto source = snapshot::OpenSource(from);
  if (!source.ok()) return source.error();
  const Result<snapshot::Cut> cut = FindCut(*source, arguments);
  if (!cut.ok()) return Error{from + ": " + cut.error().sentence};
  const auto made = snapshot::FromSource(**source, *cut);
  return made.ok() ? snapshot::WritePickle(*made, sink) : Status(made.error());
}

Status Convert(const std::string& from, const std::string& to, Form form, const Arguments& arguments) {
  Result<NewFile> file = NewFile::Create(to);
  if (!file.ok()) return file.error();
  auto sink = file->TakeSink();
  if (form == Form::kTrace) {
    const auto source = snapshot::OpenSource(from);
    if (!source.ok()) return source.error();
    if (const Status status = snapshot::WriteTrace(**source, std::move(sink)); !status.ok()) return status;
  } else {
    if (const Status status = WriteSnapshot(from, arguments, sink.get()); !status.ok()) return status;
    sink.reset();
  }
  return file->Commit();
}

int ConvertVerb(const Arguments& arguments, const Terminal&) {
  if (arguments.positionals().size() != 2) {
    return Fail("convert needs two files: vramscope convert snapshot.pickle run.vms");
  }
  const std::string& from = arguments.positionals()[0];
  const std::string& to = arguments.positionals()[1];
  const Result<Form> form = FormOf(to);
  if (!form.ok()) return Fail(form.error().sentence);
  if (*form == Form::kTrace && (arguments.Has("at") || arguments.Has("process"))) {
    return Fail("--at and --process choose what a snapshot shows; a trace has everything.");
  }
  const Status status = Convert(from, to, *form, arguments);
  return status.ok() ? kDone : Fail(status.error().sentence);
}

}  // namespace

int RunConvert(std::span<const std::string> words) {
  return RunParsed(Help(), Arguments::Parse(Help(), words), ConvertVerb);
}

}  // namespace vramscope::cli
