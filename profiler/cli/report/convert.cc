// SPDX-License-Identifier: Apache-2.0
// `vramscope convert`: a PyTorch snapshot to a trace, a trace to a PyTorch snapshot, and both to the formats
// of other tools.
#include <fmt/format.h>

#include <cstdio>
#include <optional>

#include "profiler/cli/frame/arguments.h"
#include "profiler/cli/frame/device_request.h"
#include "profiler/cli/frame/progress.h"
#include "profiler/cli/frame/terminal.h"
#include "profiler/cli/frame/verb.h"
#include "profiler/collector/output/new_file.h"
#include "profiler/export/export.h"
#include "profiler/report/device_choice.h"
#include "profiler/report/moment_choice.h"
#include "profiler/snapshot/from_source.h"
#include "profiler/snapshot/to_trace.h"
#include "profiler/snapshot/write.h"

namespace vramscope::cli {

const VerbHelp& ConvertHelp() {
  static const VerbHelp help = {
      "convert",
      "convert a trace or snapshot to the format of another tool",
      "convert [options] FROM TO",
      {{"vramscope convert run.vms peak.pickle --at peak",
        "write the peak of a run for PyTorch's memory_viz"},
       {"vramscope convert run.vms run.perfetto-trace", "write the whole run for ui.perfetto.dev"},
       {"vramscope convert run.vms series.csv --table series", "write memory by category at every event"}},
      {{"to", '\0', "FORMAT",
        "Default: chosen by the extension of TO. vms, pickle (.pkl), csv, sqlite (.db), chrome (.json),\n"
        "perfetto (.perfetto-trace, .pftrace), speedscope (.speedscope.json),\n"
        "collapsed (.folded), pprof (.pb.gz). See docs/exports.md."},
       {"table", '\0', "NAME", "The rows of a CSV file: events, blocks (default), series or steps."},
       {"redact", '\0', nullptr, "Remove what looks like a token, key or password from command lines."},
       {"at", '\0', "T",
        "For a snapshot: write only the events up to this moment. For speedscope, collapsed and pprof: "
        "write\n"
        "the blocks that are live at this moment. T: peak, step:3, oom, event:1200, end, or nanoseconds\n"
        "since the trace's start."}},
      VerbSubject::kRunAndOutput};
  return help;
}

namespace {

enum class Form : uint8_t { kTrace, kPickle, kExport };

struct Target {
  Form form{};
  const exporting::Format* format = nullptr;  // for kExport
};

Error UnknownTarget(const std::string& of, const char* what) {
  std::string names = "vms, pickle";
  for (const exporting::Format& format : exporting::Formats()) names += std::string(", ") + format.name;
  return Error{fmt::format("{}: {} The formats are {}; --to names one.", Printable(of), what, names)};
}

Result<Target> TargetOf(const std::string& path, const Arguments& arguments) {
  if (arguments.Has("to")) {
    const std::string name = arguments.Get("to");
    if (name == "vms") return Target{Form::kTrace};
    if (name == "pickle") return Target{Form::kPickle};
    const exporting::Format* format = exporting::FormatNamed(name);
    if (format == nullptr) return UnknownTarget(name, "no such format.");
    return Target{Form::kExport, format};
  }
  if (path.ends_with(".vms")) return Target{Form::kTrace};
  if (path.ends_with(".pickle") || path.ends_with(".pkl")) return Target{Form::kPickle};
  const exporting::Format* format = exporting::FormatOfPath(path);
  if (format == nullptr) return UnknownTarget(path, "no format has its extension.");
  return Target{Form::kExport, format};
}

// Finds the process, and the event where the snapshot is taken.
Result<snapshot::Cut> FindCut(const model::Run& run, const Arguments& arguments) {
  report::Request request = VRAMSCOPE_TRY(DeviceRequest(arguments));
  const auto moment = VRAMSCOPE_TRY(report::ParseMoment(arguments.Get("at", "peak")));
  request.at.push_back(moment);
  const std::vector<timeline::DeviceCurve> curves = report::CurvesOf(run);
  const model::DeviceIndex device = VRAMSCOPE_TRY(report::ChooseDevice(run, curves, request));
  if (device == model::kNone) return report::NothingAllocated(run, "there is nothing to write");

  snapshot::Cut cut;
  cut.process = run.devices[device].process;
  if (!arguments.Has("at")) return cut;
  const timeline::Training training = timeline::FindTraining(run, cut.process);
  const model::EventIndex last =
      VRAMSCOPE_TRY(report::FindEvent(run, curves[device], training, request, moment));
  cut.events = last == model::kNever ? 0 : uint64_t{last} + 1;
  return cut;
}

std::string WritingName(const std::string& to) {
  return "Writing " + Printable(to.substr(to.find_last_of('/') + 1));
}

Status WriteSnapshot(const RunFile& from, const std::string& to, const Arguments& arguments,
                     trace::ByteSink* sink) {
  const bool as_it_is = from.is_snapshot() && !arguments.Has("at");
  if (as_it_is) {
    const auto read = VRAMSCOPE_TRY(from.ReadSnapshot());
    return snapshot::WritePickle(*read, sink);
  }
  const auto source = VRAMSCOPE_TRY(OpenSource(from, arguments));
  const model::Run run = VRAMSCOPE_TRY(model::Load(source));
  const snapshot::Cut cut = VRAMSCOPE_TRY(PrefixError(from.path(), FindCut(run, arguments)));
  ProgressLine line(arguments, source->event_count());
  const auto made = VRAMSCOPE_TRY(snapshot::FromSource(*Watched(source, WritingName(to), line), run, cut));
  return snapshot::WritePickle(made, sink);
}

// `path`: the file that is later renamed to `to`.
Status WriteExport(const RunFile& from, const std::string& to, const exporting::Format& format,
                   const Arguments& arguments, const std::string& path) {
  report::Request request = VRAMSCOPE_TRY(DeviceRequest(arguments));
  if (arguments.Has("at")) {
    const auto moment = VRAMSCOPE_TRY(report::ParseMoment(arguments.Get("at")));
    request.at = {moment};
  }
  const auto table = VRAMSCOPE_TRY(exporting::ParseTable(arguments.Get("table", "blocks")));
  const model::Run run = VRAMSCOPE_TRY(LoadRun(from, arguments));
  const classify::Analysis analysis(run);
  auto content = VRAMSCOPE_TRY(PrefixError(from.path(), exporting::Content::Of(analysis, request)));
  ProgressLine line(arguments, run.event_count());
  const std::string what = WritingName(to);
  content.Watch([&](std::string_view things, uint64_t done, uint64_t total) {
    line.Show(what + ", " + std::string(things), things, done, total);
  });
  return format.write(content, {table}, path);
}

Status Convert(const RunFile& from, const std::string& to, const Target& target, const Arguments& arguments) {
  collector::NewFile file = VRAMSCOPE_TRY(collector::NewFile::Create(to, {from.path()}));
  auto sink = file.TakeSink();
  if (target.form == Form::kTrace) {
    const auto source = VRAMSCOPE_TRY(OpenSource(from, arguments));
    ProgressLine line(arguments, source->event_count());
    VRAMSCOPE_TRY(snapshot::WriteTrace(*Watched(source, WritingName(to), line), std::move(sink)));
  } else if (target.form == Form::kPickle) {
    VRAMSCOPE_TRY(WriteSnapshot(from, to, arguments, sink.get()));
    sink.reset();
  } else {
    sink.reset();
    VRAMSCOPE_TRY(WriteExport(from, to, *target.format, arguments, file.part()));
  }
  return file.Commit();
}

// An option that would have no effect is refused.
Status CheckOptions(const Target& target, const Arguments& arguments) {
  if (target.form == Form::kTrace &&
      (arguments.Has("at") || arguments.Has("process") || arguments.Has("rank") || arguments.Has("device")))
    return Error{
        "--at, --process, --rank and --device select what a snapshot or an export contains; a trace always "
        "contains everything."};
  if (target.form == Form::kPickle && arguments.Has("device"))
    return Error{"--device applies to exports; a snapshot has all devices of a process."};
  if (target.form == Form::kExport && arguments.Has("at") && !target.format->of_moment)
    return Error{std::string("--at applies to snapshots and flame graphs; ") + target.format->name +
                 " has the whole run."};
  const bool csv = target.form == Form::kExport && target.format->write == exporting::WriteCsv;
  if (arguments.Has("table") && !csv) return Error{"--table applies to CSV files."};
  return {};
}

// Warns about damage: the copy contains only the readable part, and nothing in it shows that there was more.
void WarnOfDamage(const RunFile& from) {
  if (from.is_snapshot()) return;
  const auto source = from.OpenSource();
  if (source.ok() && !(*source)->damage().sentence.empty()) Say((*source)->damage().sentence);
}

Result<int> ConvertVerb(const Arguments& arguments, const Terminal&) {
  if (arguments.positionals().size() != 2) {
    return UsageError("convert needs two files: vramscope convert snapshot.pickle run.vms");
  }
  const RunFile from(arguments.positionals()[0]);
  const std::string& to = arguments.positionals()[1];
  const Target target = VRAMSCOPE_TRY(TargetOf(to, arguments));
  VRAMSCOPE_TRY(CheckOptions(target, arguments));
  VRAMSCOPE_TRY(Convert(from, to, target, arguments));
  WarnOfDamage(from);
  return kDone;
}

}  // namespace

int RunConvert(std::span<const std::string> words) {
  return RunParsed(ConvertHelp(), Arguments::Parse(ConvertHelp(), words), ConvertVerb);
}

}  // namespace vramscope::cli
