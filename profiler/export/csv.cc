// SPDX-License-Identifier: Apache-2.0
// Export as CSV (RFC 4180, with column names in the first line). An empty field means unknown.
// docs/exports.md describes the columns.
#include <array>
#include <optional>
#include <unordered_map>

#include "profiler/export/block_row.h"
#include "profiler/export/export.h"
#include "profiler/export/output.h"
#include "profiler/export/series.h"
#include "profiler/text/harmless.h"

namespace vramscope::exporting {
namespace {

class Csv {
 public:
  Csv(const Content& content, Output& out) : content_(content), run_(content.run()), out_(out) {}

  void Events() {
    out_.Text("event,time_ns,process,thread,type,device,address,bytes,requested_bytes,name\n");
    uint64_t number = 0;
    const Status read = run_.source->ForEachBatch([&](std::span<const trace::Event> batch) {
      for (const trace::Event& event : batch) EventRow(++number, event);
      content_.Tell("events", number, run_.event_count());
      return true;
    });
    (void)read;  // ignored: the report shows unreadable parts as damage
  }

  void Blocks() {
    out_.Text(
        "block,process,device,address,bytes,requested_bytes,stream,alloc_ns,free_ns,step,phase,"
        "first_category,last_category,peak_category,name,module,op,line\n");
    BlockRows rows(content_);
    for (model::BlockId id = 0; id < run_.blocks.size(); ++id) Block(rows.Of(id));
  }

  void SeriesOfAll() {
    out_.Text("time_ns,process,device,step,phase,allocated_bytes,reserved_bytes");
    for (size_t i = 0; i < classify::kCategoryCount; ++i) {
      out_.Char(',');
      out_.Text(classify::Info(static_cast<classify::Category>(i)).key);
    }
    out_.Char('\n');
    for (model::DeviceIndex device = 0; device < run_.devices.size(); ++device) SeriesOf(device);
  }

  void Steps() {
    out_.Text(
        "step,begin_ns,end_ns,complete,deep,peak_allocated_bytes,peak_reserved_bytes,peak_time_ns,"
        "peak_phase,end_allocated_bytes,allocations,handed_out_bytes\n");
    for (const report::Step& step : content_.answer().steps) {
      Numbers({step.number, step.begin_ns, step.end_ns, step.complete, step.deep, step.peak.allocated_bytes});
      Maybe(step.peak.reserved_bytes);
      Numbers({step.peak.time_ns});
      Field(timeline::PhaseName(step.peak.phase));
      Numbers({step.end_bytes, step.allocations});
      out_.Number(step.handed_out_bytes);
      out_.Char('\n');
    }
  }

 private:
  // Writes a field and a comma.
  void Field(std::string_view text) {
    out_.Text(text);
    out_.Char(',');
  }
  void Numbers(std::initializer_list<uint64_t> numbers) {
    for (const uint64_t number : numbers) {
      out_.Number(number);
      out_.Char(',');
    }
  }
  void Maybe(std::optional<uint64_t> number) {
    if (number.has_value()) out_.Number(*number);
    out_.Char(',');
  }
  void Name(std::string_view name) {
    if (!name.empty()) out_.Text(text::Csv(name));
  }

  // Positions of the columns' values in the fields of an event type; -1 = absent.
  struct Columns {
    int device = -1, address = -1, bytes = -1, requested = -1, name = -1;
  };
  static Columns ColumnsOf(const trace::EventSpec& spec) {
    Columns columns;
    for (int i = 0; i < spec.field_count; ++i) {
      const std::string_view field = spec.fields[i].name;
      if (field == "device") columns.device = i;
      if (field == "address" || field == "storage") columns.address = i;
      if (field == "size" || field == "bytes") columns.bytes = i;
      if (field == "requested") columns.requested = i;
      if (spec.fields[i].kind == trace::FieldKind::kString && columns.name < 0) columns.name = i;
    }
    return columns;
  }

  void EventRow(uint64_t number, const trace::Event& event) {
    static const auto columns = [] {
      std::array<Columns, trace::kEventTypeCount> all;
      for (size_t i = 0; i < all.size(); ++i) all[i] = ColumnsOf(trace::kEventSchema[i]);
      return all;
    }();
    const auto type = static_cast<size_t>(event.type);
    if (type >= trace::kEventTypeCount || event.thread >= run_.threads.size()) return;
    const Columns& where = columns[type];
    const model::Thread& thread = run_.threads[event.thread];
    Numbers({number, event.time_ns, run_.processes[thread.process].info.pid, thread.info.os_thread});
    const char* name = trace::kEventSchema[type].name;
    Field(name == nullptr ? "" : name);
    Field(where.device < 0 ? std::string_view() : DeviceName(event.field[where.device]));
    const auto number_of = [&](int field) {
      return field < 0 ? std::nullopt : std::optional(event.field[field]);
    };
    Maybe(number_of(where.address));
    Maybe(number_of(where.bytes));
    Maybe(number_of(where.requested));
    if (where.name >= 0) Name(run_.Text(static_cast<uint32_t>(event.field[where.name])));
    out_.Char('\n');
  }

  std::string_view DeviceName(uint64_t code) {
    auto found = device_names_.find(code);
    if (found == device_names_.end()) found = device_names_.emplace(code, model::DeviceName(code)).first;
    return found->second;
  }

  void Block(const BlockRow& row) {
    Numbers({row.number, row.pid});
    Field(run_.devices[row.device].name);
    Numbers({row.block->address, row.block->size});
    Maybe(row.requested);
    Numbers({run_.streams[row.block->stream], row.alloc_ns});
    Maybe(row.free_ns);
    Maybe(row.step == 0 ? std::nullopt : std::optional<uint64_t>(row.step));
    Field(timeline::PhaseName(row.phase));
    Field(classify::Info(row.first).key);
    Field(classify::Info(row.last).key);
    Field(row.at_peak.has_value() ? classify::Info(*row.at_peak).key : "");
    Name(row.name);
    out_.Char(',');
    Name(row.module);
    out_.Char(',');
    Name(row.op);
    out_.Char(',');
    Name(row.line);
    out_.Char('\n');
  }

  void SeriesOf(model::DeviceIndex device) {
    const model::Device& of = run_.devices[device];
    const uint32_t pid = run_.processes[of.process].info.pid;
    const Series series(content_, device);
    series.ForEach([&](const SeriesPoint& point) {
      Numbers({run_.times.TimeOf(point.event), pid});
      Field(of.name);
      Maybe(point.step == 0 ? std::nullopt : std::optional<uint64_t>(point.step));
      Field(timeline::PhaseName(point.phase));
      Numbers({point.allocated});
      if (point.reserved.has_value()) out_.Number(*point.reserved);
      for (const uint64_t bytes : point.categories) {
        out_.Char(',');
        out_.Number(bytes);
      }
      out_.Char('\n');
    });
  }

  const Content& content_;
  const model::Run& run_;
  Output& out_;
  std::unordered_map<uint64_t, std::string> device_names_;
};

}  // namespace

Status WriteCsv(const Content& content, const Options& options, const std::string& path) {
  Output out = VRAMSCOPE_TRY(Output::Create(path));
  Csv csv(content, out);
  switch (options.table) {
    case Table::kEvents:
      csv.Events();
      break;
    case Table::kBlocks:
      csv.Blocks();
      break;
    case Table::kSeries:
      csv.SeriesOfAll();
      break;
    case Table::kSteps:
      csv.Steps();
      break;
  }
  return out.Finish();
}

}  // namespace vramscope::exporting
