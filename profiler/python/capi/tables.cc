// SPDX-License-Identifier: Apache-2.0
#include "profiler/python/capi/tables.h"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "profiler/export/block_row.h"
#include "profiler/export/series.h"

namespace vramscope::python {
namespace {

using trace::EventType;

// The most rows to reserve memory for at once: a file may claim any number of events.
constexpr uint64_t kReserveAtMost = 16'000'000;

template <typename... Columns>
void ReserveRows(uint64_t rows, Columns&... columns) {
  (columns.Reserve(static_cast<size_t>(std::min(rows, kReserveAtMost))), ...);
}

// Positions of the columns' values in the schema of an event type; -1 = absent.
struct FieldsOf {
  int device = -1, address = -1, bytes = -1, requested = -1, stack = -1, name = -1;
};

FieldsOf FieldsIn(const trace::EventSpec& spec) {
  FieldsOf fields;
  for (int i = 0; i < spec.field_count; ++i) {
    const std::string_view field = spec.fields[i].name;
    if (field == "device") fields.device = i;
    if (field == "address" || field == "storage") fields.address = i;
    if (field == "size" || field == "bytes") fields.bytes = i;
    if (field == "requested") fields.requested = i;
    if (spec.fields[i].kind == trace::FieldKind::kStack) fields.stack = i;
    if (spec.fields[i].kind == trace::FieldKind::kString && fields.name < 0) fields.name = i;
  }
  return fields;
}

const std::array<FieldsOf, trace::kEventTypeCount>& FieldsByType() {
  static const auto all = [] {
    std::array<FieldsOf, trace::kEventTypeCount> fields;
    for (size_t i = 0; i < fields.size(); ++i) fields[i] = FieldsIn(trace::kEventSchema[i]);
    return fields;
  }();
  return all;
}

// The columns of process and thread of an event.
class Whose {
 public:
  Whose(const model::Source& source, Table& table)
      : source_(source),
        process_(table.Add<Int32Column>("process")),
        thread_(table.Add<Int32Column>("thread")) {}

  [[nodiscard]] bool Knows(const trace::Event& event) const {
    return event.thread < source_.threads().size() &&
           source_.threads()[event.thread].process < source_.processes().size();
  }
  void Add(uint32_t thread) {
    const trace::ThreadInfo& info = source_.threads()[thread];
    process_.Add(source_.processes()[info.process].pid);
    thread_.Add(info.os_thread);
  }
  void Reserve(size_t rows) {
    process_.Reserve(rows);
    thread_.Reserve(rows);
  }

 private:
  const model::Source& source_;
  Int32Column& process_;
  Int32Column& thread_;
};

void AddField(Int64Column& column, int field, const trace::Event& event) {
  field < 0 ? column.AddMissing() : column.Add(event.field[field]);
}

// The recorder writes 0 for a value that it does not know.
void AddIfNotZero(Int64Column& column, int field, const trace::Event& event) {
  AddField(column, field >= 0 && event.field[field] != 0 ? field : -1, event);
}

}  // namespace

SharedTable EventsTable(const model::Source& source) {
  auto table = std::make_shared<Table>();
  auto& number = table->Add<Int64Column>("event");
  auto& time = table->Add<Int64Column>("time_ns");
  Whose whose(source, *table);
  auto& type = table->Add<TextColumn>("type");
  auto& device = table->Add<TextColumn>("device");
  auto& address = table->Add<Int64Column>("address");
  auto& bytes = table->Add<Int64Column>("bytes");
  auto& requested = table->Add<Int64Column>("requested_bytes");
  auto& stack = table->Add<Int64Column>("stack");
  auto& name = table->Add<TextColumn>("name");
  ReserveRows(source.event_count(), number, time, whose, type, device, address, bytes, requested, stack,
              name);
  uint64_t count = 0;
  const auto add = [&](const trace::Event& event) {
    ++count;
    const auto kind = static_cast<size_t>(event.type);
    if (kind >= trace::kEventTypeCount || trace::kEventSchema[kind].name == nullptr || !whose.Knows(event))
      return;
    const FieldsOf& fields = FieldsByType()[kind];
    number.Add(count);
    time.Add(event.time_ns);
    whose.Add(event.thread);
    type.AddKey(kind, [&] { return std::string_view(trace::kEventSchema[kind].name); });
    if (fields.device < 0) {
      device.AddMissing();
    } else {
      device.AddKey(event.field[fields.device],
                    [&] { return model::DeviceName(event.field[fields.device]); });
    }
    AddField(address, fields.address, event);
    AddField(bytes, fields.bytes, event);
    AddIfNotZero(requested, fields.requested, event);
    AddIfNotZero(stack, fields.stack, event);
    const uint64_t id = fields.name < 0 ? 0 : event.field[fields.name];
    name.AddKey(id, [&] { return source.String(static_cast<uint32_t>(id)); });
  };
  (void)source.ForEachBatch([&](std::span<const trace::Event> batch) {  // the report shows damage
    for (const trace::Event& event : batch) add(event);
    return true;
  });
  return table;
}

SharedTable BlocksTable(const exporting::Content& content) {
  const model::Run& run = content.run();
  auto table = std::make_shared<Table>();
  auto& number = table->Add<Int64Column>("block");
  auto& process = table->Add<Int32Column>("process");
  auto& device = table->Add<TextColumn>("device");
  auto& address = table->Add<Int64Column>("address");
  auto& bytes = table->Add<Int64Column>("bytes");
  auto& requested = table->Add<Int64Column>("requested_bytes");
  auto& stream = table->Add<Int64Column>("stream");
  auto& alloc_ns = table->Add<Int64Column>("alloc_ns");
  auto& free_ns = table->Add<Int64Column>("free_ns");
  auto& step = table->Add<Int32Column>("step");
  auto& phase = table->Add<TextColumn>("phase");
  auto& first = table->Add<TextColumn>("first_category");
  auto& last = table->Add<TextColumn>("last_category");
  auto& at_peak = table->Add<TextColumn>("peak_category");
  auto& name = table->Add<TextColumn>("name");
  auto& module = table->Add<TextColumn>("module");
  auto& op = table->Add<TextColumn>("op");
  auto& line = table->Add<TextColumn>("line");
  auto& stack = table->Add<Int64Column>("stack");
  const auto add_category = [](TextColumn& column, classify::Category category) {
    column.AddKey(static_cast<uint64_t>(category), [&] { return std::string_view(Info(category).key); });
  };
  exporting::BlockRows rows(content);
  for (model::BlockId id = 0; id < run.blocks.size(); ++id) {
    const exporting::BlockRow row = rows.Of(id);
    number.Add(row.number);
    process.Add(row.pid);
    device.AddKey(row.device, [&] { return std::string_view(run.devices[row.device].name); });
    address.Add(row.block->address);
    bytes.Add(row.block->size);
    requested.AddMaybe(row.requested);
    stream.Add(run.streams[row.block->stream]);
    alloc_ns.Add(row.alloc_ns);
    free_ns.AddMaybe(row.free_ns);
    row.step == 0 ? step.AddMissing() : step.Add(row.step);
    phase.AddKey(static_cast<uint64_t>(row.phase), [&] { return std::string_view(PhaseName(row.phase)); });
    add_category(first, row.first);
    add_category(last, row.last);
    row.at_peak.has_value() ? add_category(at_peak, *row.at_peak) : at_peak.AddMissing();
    name.Add(row.name);
    module.Add(row.module);
    op.Add(row.op);
    line.Add(row.line);
    row.stack == 0 ? stack.AddMissing() : stack.Add(row.stack);
  }
  return table;
}

SharedTable SeriesTable(const exporting::Content& content, const std::vector<model::DeviceIndex>& devices,
                        uint32_t first_step, uint32_t last_step) {
  const model::Run& run = content.run();
  auto table = std::make_shared<Table>();
  auto& event = table->Add<Int64Column>("event");
  auto& time = table->Add<Int64Column>("time_ns");
  auto& process = table->Add<Int32Column>("process");
  auto& device_name = table->Add<TextColumn>("device");
  auto& step = table->Add<Int32Column>("step");
  auto& phase = table->Add<TextColumn>("phase");
  auto& allocated = table->Add<Int64Column>("allocated_bytes");
  auto& reserved = table->Add<Int64Column>("reserved_bytes");
  std::vector<Int64Column*> categories;
  for (size_t i = 0; i < classify::kCategoryCount; ++i)
    categories.push_back(&table->Add<Int64Column>(Info(static_cast<classify::Category>(i)).key));
  for (const model::DeviceIndex device : devices) {
    const exporting::Series series(content, device);
    series.ForEach([&](const exporting::SeriesPoint& point) {
      if (first_step != 0 && (point.step < first_step || point.step > last_step)) return;
      event.Add(uint64_t{point.event} + 1);
      time.Add(run.times.TimeOf(point.event));
      process.Add(run.processes[run.devices[device].process].info.pid);
      device_name.AddKey(device, [&] { return std::string_view(run.devices[device].name); });
      point.step == 0 ? step.AddMissing() : step.Add(point.step);
      phase.AddKey(static_cast<uint64_t>(point.phase),
                   [&] { return std::string_view(PhaseName(point.phase)); });
      allocated.Add(point.allocated);
      reserved.AddMaybe(point.reserved);
      for (size_t i = 0; i < categories.size(); ++i) categories[i]->Add(point.categories[i]);
    });
  }
  return table;
}

SharedTable StacksTable(const model::Source& source) {
  auto table = std::make_shared<Table>();
  auto& stack = table->Add<Int64Column>("stack");
  auto& position = table->Add<Int32Column>("position");
  auto& frame = table->Add<TextColumn>("frame");
  std::unordered_set<uint32_t> seen;
  const auto add = [&](uint32_t id) {
    if (id == 0 || !seen.insert(id).second) return;
    uint64_t place = 0;
    for (const trace::StringId text : source.Stack(id)) {
      stack.Add(id);
      position.Add(place++);
      frame.AddKey(text, [&] { return source.String(text); });
    }
  };
  (void)source.ForEachBatch([&](std::span<const trace::Event> batch) {
    for (const trace::Event& event : batch) {
      const auto kind = static_cast<size_t>(event.type);
      if (kind >= trace::kEventTypeCount || FieldsByType()[kind].stack < 0) continue;
      add(static_cast<uint32_t>(event.field[FieldsByType()[kind].stack]));
    }
    return true;
  });
  return table;
}

SharedTable OperatorsTable(const model::Source& source) {
  struct Call {
    uint64_t begin_ns = 0;
    std::optional<uint64_t> end_ns;
    std::optional<uint64_t> parent;  // 1-based
    uint32_t thread = 0;
    uint32_t name = 0;
    uint32_t stack = 0;
  };
  std::vector<Call> calls;
  std::vector<std::vector<size_t>> open(source.threads().size());
  (void)source.ForEachBatch([&](std::span<const trace::Event> batch) {
    for (const trace::Event& event : batch) {
      if (event.thread >= open.size()) continue;
      std::vector<size_t>& here = open[event.thread];
      if (event.type == EventType::kOpBegin) {
        Call call;
        call.begin_ns = event.time_ns;
        if (!here.empty()) call.parent = here.back() + 1;
        call.thread = event.thread;
        call.name = static_cast<uint32_t>(event.field[trace::op::kName]);
        call.stack = static_cast<uint32_t>(event.field[trace::op::kStack]);
        here.push_back(calls.size());
        calls.push_back(call);
      } else if (event.type == EventType::kOpEnd && !here.empty()) {
        calls[here.back()].end_ns = event.time_ns;
        here.pop_back();
      }
    }
    return true;
  });

  auto table = std::make_shared<Table>();
  auto& number = table->Add<Int64Column>("operator");
  auto& parent = table->Add<Int64Column>("parent");
  Whose whose(source, *table);
  auto& name = table->Add<TextColumn>("name");
  auto& stack = table->Add<Int64Column>("stack");
  auto& begin_ns = table->Add<Int64Column>("begin_ns");
  auto& end_ns = table->Add<Int64Column>("end_ns");
  for (size_t i = 0; i < calls.size(); ++i) {
    const Call& call = calls[i];
    number.Add(i + 1);
    parent.AddMaybe(call.parent);
    whose.Add(call.thread);
    name.AddKey(call.name, [&] { return source.String(call.name); });
    call.stack == 0 ? stack.AddMissing() : stack.Add(call.stack);
    begin_ns.Add(call.begin_ns);
    end_ns.AddMaybe(call.end_ns);
  }
  return table;
}

}  // namespace vramscope::python
