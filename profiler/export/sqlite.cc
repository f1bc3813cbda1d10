// SPDX-License-Identifier: Apache-2.0
// Export as a SQLite database: the figures of the report, and a row for each block and each point of the
// curves.
#include <algorithm>
#include <cstdio>
#include <numeric>

#include "profiler/export/block_row.h"
#include "profiler/export/export.h"
#include "profiler/export/series.h"
#include "profiler/export/slices.h"
#include "profiler/export/sqlite_facts.h"
#include "profiler/export/sqlite_rows.h"
#include "profiler/export/sqlite_schema.h"
#include "profiler/report/json.h"
#include "profiler/text/harmless.h"

namespace vramscope::exporting {
namespace {

class Writer {
 public:
  Writer(const Content& content, Database& db) : content_(content), run_(content.run()), db_(db) {
    // The answer sorts devices by their peaks. device_rows_ maps a device's index in the run to its row
    // there.
    std::vector<model::DeviceIndex> order(run_.devices.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](model::DeviceIndex a, model::DeviceIndex b) {
      return content.curves()[a].peak().bytes > content.curves()[b].peak().bytes;
    });
    device_rows_.resize(order.size());
    for (size_t i = 0; i < order.size(); ++i) device_rows_[order[i]] = i + 1;
  }

  void Write() {
    // An incomplete file is deleted, so no journal is needed.
    db_.Do(
        "PRAGMA page_size=16384; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA "
        "locking_mode=EXCLUSIVE;");
    db_.Do(kSqliteSchema);
    db_.Do(SeriesTable().c_str());
    db_.Do("BEGIN");
    RunFacts();
    Categories();
    Processes();
    Devices();
    Steps();
    Owners();
    OutOfMemory();
    AllSlices();
    Blocks();
    SeriesRows();
    WriteDriverFacts(run_, db_);
    WriteCounters(run_, db_);
    db_.Do("COMMIT");
    db_.Do(kSqliteViews);
  }

 private:
  static std::string SeriesTable() {
    std::string sql =
        "CREATE TABLE series (device INTEGER, time_ns INTEGER, step INTEGER, phase TEXT, "
        "allocated_bytes INTEGER, reserved_bytes INTEGER";
    for (size_t i = 0; i < classify::kCategoryCount; ++i)
      sql += std::string(", ") + classify::Info(static_cast<classify::Category>(i)).key + " INTEGER";
    return sql + ")";
  }

  void RunFacts() {
    const report::Answer& answer = content_.answer();
    Rows rows(db_, "run", 2);
    rows.Constant("schema_version").Number(report::kSchemaVersion).Add();
    rows.Constant("command_line").Name(answer.command_line).Add();
    rows.Constant("torch_version").Name(answer.torch_version()).Add();
    rows.Constant("framework").Name(answer.framework->name).Add();
    rows.Constant("framework_version").Name(answer.framework_version).Add();
    rows.Constant("duration_ns").Number(answer.duration_ns).Add();
    rows.Constant("events").Number(answer.events).Add();
    rows.Constant("dropped_events").Number(answer.dropped_events).Add();
    rows.Constant("device").Name(answer.device).Add();
    rows.Constant("process").Number(answer.pid).Add();
    rows.Constant("peak_allocated_bytes").Number(answer.peak.allocated_bytes).Add();
    rows.Constant("peak_reserved_bytes").Maybe(answer.peak.reserved_bytes).Add();
    rows.Constant("peak_device_used_bytes").Maybe(answer.peak.device_used_bytes).Add();
    rows.Constant("peak_time_ns").Number(answer.peak.time_ns).Add();
    rows.Constant("peak_step").Step(answer.peak.step).Add();
    rows.Constant("peak_phase").Constant(timeline::PhaseName(answer.peak.phase)).Add();
  }

  void Categories() {
    Rows rows(db_, "categories", 3);
    for (size_t i = 0; i < classify::kCategoryCount; ++i) {
      const auto& info = classify::Info(static_cast<classify::Category>(i));
      rows.Number(i).Constant(info.key).Constant(info.name).Add();
    }
  }

  void Processes() {
    Rows rows(db_, "processes", 9);
    uint64_t number = 0;
    for (const report::Process& process : content_.answer().processes) {
      rows.Number(++number).Number(process.pid).Number(process.parent_pid).Name(process.role);
      rows.Name(process.command_line);
      rows.Maybe(process.exit_status == -1 ? std::nullopt : std::optional(process.exit_status));
      rows.Number(process.events).Number(process.steps).Number(process.peak_bytes).Add();
    }
  }

  static void NonZero(Rows& rows, uint64_t of, const classify::CategoryBytes& bytes) {
    for (size_t i = 0; i < bytes.size(); ++i) {
      if (bytes[i] != 0) rows.Number(of).Number(i).Number(bytes[i]).Add();
    }
  }

  void Devices() {
    Rows rows(db_, "devices", 12);
    Rows categories(db_, "device_categories", 3);
    uint64_t number = 0;
    for (const report::Device& device : content_.answer().devices) {
      rows.Number(++number)
          .Number(device.pid)
          .Name(device.name)
          .Number(device.chosen)
          .Number(device.allocations);
      rows.Number(device.peak.allocated_bytes).Number(device.peak.time_ns).Step(device.peak.step);
      rows.Constant(timeline::PhaseName(device.peak.phase)).Maybe(device.peak_reserved_bytes);
      rows.Maybe(device.peak_used_bytes).Number(device.end_bytes).Add();
      NonZero(categories, number, device.peak.categories);
    }
  }

  void Steps() {
    Rows rows(db_, "steps", 12);
    Rows categories(db_, "step_categories", 3);
    for (const report::Step& step : content_.answer().steps) {
      rows.Number(step.number)
          .Number(step.begin_ns)
          .Number(step.end_ns)
          .Number(step.complete)
          .Number(step.deep);
      rows.Number(step.peak.allocated_bytes).Maybe(step.peak.reserved_bytes).Number(step.peak.time_ns);
      rows.Constant(timeline::PhaseName(step.peak.phase)).Number(step.end_bytes).Number(step.allocations);
      rows.Number(step.handed_out_bytes).Add();
      NonZero(categories, step.number, step.peak.categories);
    }
  }

  void Owners() {
    Rows rows(db_, "owners", 5);
    for (const report::Owner& owner : content_.answer().owners) {
      rows.Constant(report::OwnerKindKey(owner.kind)).Name(owner.name).Number(owner.members);
      rows.Number(owner.blocks).Number(owner.bytes).Add();
    }
  }

  void OutOfMemory() {
    Rows rows(db_, "out_of_memory", 6);
    for (const report::OutOfMemory& oom : content_.answer().out_of_memory) {
      rows.Number(oom.time_ns).Number(oom.pid).Name(oom.device).Number(oom.requested_bytes).Step(oom.step);
      rows.Constant(timeline::PhaseName(oom.phase)).Add();
    }
  }

  void AllSlices() {
    Rows rows(db_, "slices", 7);
    const Slices slices = FindSlices(content_);
    std::vector<const Edge*> open;
    for (const Edge& edge : slices.edges) {
      if (edge.begin) {
        open.push_back(&edge);
        continue;
      }
      const Edge& begin = *open.back();
      open.pop_back();
      const Track& track = slices.tracks[edge.track];
      rows.Number(run_.processes[track.process].info.pid)
          .Name(track.name)
          .Constant(begin.kind)
          .Name(begin.name);
      rows.Number(open.size()).Number(begin.time_ns).Number(edge.time_ns).Add();
    }
  }

  void Blocks() {
    Texts texts(db_);
    Stacks stacks(run_, db_, texts);
    Rows rows(db_, "blocks", 18);
    BlockRows blocks(content_);
    for (model::BlockId id = 0; id < run_.blocks.size(); ++id) {
      const BlockRow row = blocks.Of(id);
      rows.Number(row.number)
          .Number(device_rows_[row.device])
          .Number(row.block->address)
          .Number(row.block->size);
      rows.Maybe(row.requested)
          .Number(run_.streams[row.block->stream])
          .Number(row.alloc_ns)
          .Maybe(row.free_ns);
      rows.Step(row.step).Constant(timeline::PhaseName(row.phase)).Number(static_cast<uint64_t>(row.first));
      rows.Number(static_cast<uint64_t>(row.last)).Maybe(row.at_peak);
      texts.Put(rows, row.name);
      texts.Put(rows, row.module);
      texts.Put(rows, row.op);
      texts.Put(rows, row.line);
      stacks.Put(rows, row.stack);
      rows.Add();
    }
    WriteOperators(run_, db_, texts, stacks);
  }

  void SeriesRows() {
    Rows rows(db_, "series", 6 + static_cast<int>(classify::kCategoryCount));
    for (model::DeviceIndex device = 0; device < run_.devices.size(); ++device) {
      const Series series(content_, device);
      series.ForEach([&](const SeriesPoint& point) {
        rows.Number(device_rows_[device]).Number(run_.times.TimeOf(point.event)).Step(point.step);
        rows.Constant(timeline::PhaseName(point.phase)).Number(point.allocated).Maybe(point.reserved);
        for (const uint64_t bytes : point.categories) rows.Number(bytes);
        rows.Add();
      });
    }
  }

  const Content& content_;
  const model::Run& run_;
  Database& db_;
  std::vector<uint64_t> device_rows_;  // by DeviceIndex
};

}  // namespace

Status WriteSqlite(const Content& content, const Options&, const std::string& path) {
  std::remove(path.c_str());  // SQLite would add tables to an existing database, and reject any other file
  Database db(path);
  Writer(content, db).Write();
  if (db.error().empty()) return {};
  return Error{path + ": the database could not be written: " + db.error() + "."};
}

}  // namespace vramscope::exporting
