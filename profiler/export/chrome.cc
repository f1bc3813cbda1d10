// SPDX-License-Identifier: Apache-2.0
// Export in Chrome's trace event format, JSON: "Trace Event Format", Google 2016. Times are microseconds with
// three decimals, so nanoseconds stay exact.
#include "profiler/export/export.h"
#include "profiler/export/output.h"
#include "profiler/export/series.h"
#include "profiler/export/slices.h"
#include "profiler/text/harmless.h"

namespace vramscope::exporting {
namespace {

class Chrome {
 public:
  Chrome(const Content& content, Output& out) : content_(content), run_(content.run()), out_(out) {}

  void Write() {
    out_.Text("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"exporter\":\"vramscope\"},\"traceEvents\":[\n");
    for (model::ProcessIndex process = 0; process < run_.processes.size(); ++process) {
      Begin("M", Pid(process), 0);
      out_.Text(",\"name\":\"process_name\",\"args\":{\"name\":");
      out_.Text(text::Json(run_.processes[process].info.command_line));
      out_.Text("}}");
    }
    const Slices slices = FindSlices(content_);
    for (size_t track = 0; track < slices.tracks.size(); ++track) TrackName(slices.tracks[track], track + 1);
    for (const Edge& edge : slices.edges) Slice(edge, slices.tracks[edge.track]);
    for (model::DeviceIndex device = 0; device < run_.devices.size(); ++device) Counters(device);
    for (const report::OutOfMemory& oom : content_.answer().out_of_memory) OutOfMemory(oom);
    out_.Text("\n]}\n");
  }

 private:
  [[nodiscard]] uint32_t Pid(model::ProcessIndex process) const { return run_.processes[process].info.pid; }

  void Begin(std::string_view phase, uint32_t pid, uint64_t track) {
    out_.Text(first_ ? "{\"ph\":\"" : ",\n{\"ph\":\"");
    first_ = false;
    out_.Text(phase);
    out_.Text("\",\"pid\":");
    out_.Number(pid);
    out_.Text(",\"tid\":");
    out_.Number(track);
  }
  void Time(uint64_t time_ns) {
    out_.Text(",\"ts\":");
    out_.Number(time_ns / 1000);
    out_.Char('.');
    for (const uint64_t digit : {time_ns / 100 % 10, time_ns / 10 % 10, time_ns % 10})
      out_.Char(static_cast<char>('0' + digit));
  }

  void TrackName(const Track& track, size_t number) {
    Begin("M", Pid(track.process), number);
    out_.Text(",\"name\":\"thread_name\",\"args\":{\"name\":");
    out_.Text(text::Json(track.name));
    out_.Text("}}");
  }

  void Slice(const Edge& edge, const Track& track) {
    Begin(edge.begin ? "B" : "E", Pid(track.process), edge.track + 1);
    Time(edge.time_ns);
    if (edge.begin) {
      out_.Text(",\"cat\":\"");
      out_.Text(edge.kind);
      out_.Text("\",\"name\":");
      out_.Text(text::Json(edge.name));
    }
    out_.Char('}');
  }

  // Two counters per device: one stacked by category, one of reserved bytes.
  void Counters(model::DeviceIndex device) {
    const model::Device& of = run_.devices[device];
    std::optional<uint64_t> reserved;
    const Series series(content_, device);
    series.ForEach([&](const SeriesPoint& point) {
      Begin("C", Pid(of.process), 0);
      Time(run_.times.TimeOf(point.event));
      out_.Text(",\"name\":");
      out_.Text(text::Json(of.name + " allocated"));
      for (size_t i = 0; i < classify::kCategoryCount; ++i) {
        out_.Text(i == 0 ? ",\"args\":{\"" : ",\"");
        out_.Text(classify::Info(static_cast<classify::Category>(i)).key);
        out_.Text("\":");
        out_.Number(point.categories[i]);
      }
      out_.Text("}}");
      if (point.reserved == reserved) return;
      reserved = point.reserved;
      Begin("C", Pid(of.process), 0);
      Time(run_.times.TimeOf(point.event));
      out_.Text(",\"name\":");
      out_.Text(text::Json(of.name + " reserved"));
      out_.Text(",\"args\":{\"bytes\":");
      out_.Number(*reserved);
      out_.Text("}}");
    });
  }

  void OutOfMemory(const report::OutOfMemory& oom) {
    Begin("i", oom.pid, 0);
    Time(oom.time_ns);
    out_.Text(",\"s\":\"g\",\"name\":\"out of memory\",\"args\":{\"device\":");
    out_.Text(text::Json(oom.device));
    out_.Text(",\"requested_bytes\":");
    out_.Number(oom.requested_bytes);
    out_.Text("}}");
  }

  const Content& content_;
  const model::Run& run_;
  Output& out_;
  bool first_ = true;
};

}  // namespace

Status WriteChrome(const Content& content, const Options&, const std::string& path) {
  Output out = VRAMSCOPE_TRY(Output::Create(path));
  Chrome(content, out).Write();
  return out.Finish();
}

}  // namespace vramscope::exporting
