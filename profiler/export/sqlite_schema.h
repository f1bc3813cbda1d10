// SPDX-License-Identifier: Apache-2.0
// The tables and views of the SQLite export (docs/exports.md).
#pragma once

namespace vramscope::exporting {

inline constexpr char kSqliteSchema[] = R"sql(
CREATE TABLE run (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE categories (category INTEGER PRIMARY KEY, key TEXT NOT NULL, name TEXT NOT NULL);
CREATE TABLE texts (text INTEGER PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE processes (process INTEGER PRIMARY KEY, pid INTEGER, parent_pid INTEGER, role TEXT, command_line TEXT,
  exit_status INTEGER, events INTEGER, steps INTEGER, peak_allocated_bytes INTEGER);
CREATE TABLE devices (device INTEGER PRIMARY KEY, pid INTEGER, name TEXT, chosen INTEGER, allocations INTEGER,
  peak_allocated_bytes INTEGER, peak_time_ns INTEGER, peak_step INTEGER, peak_phase TEXT,
  peak_reserved_bytes INTEGER, peak_device_used_bytes INTEGER, end_allocated_bytes INTEGER);
CREATE TABLE device_categories (device INTEGER, category INTEGER, bytes INTEGER);
CREATE TABLE steps (step INTEGER PRIMARY KEY, begin_ns INTEGER, end_ns INTEGER, complete INTEGER, deep INTEGER,
  peak_allocated_bytes INTEGER, peak_reserved_bytes INTEGER, peak_time_ns INTEGER, peak_phase TEXT,
  end_allocated_bytes INTEGER, allocations INTEGER, handed_out_bytes INTEGER);
CREATE TABLE step_categories (step INTEGER, category INTEGER, bytes INTEGER);
CREATE TABLE owners (kind TEXT, name TEXT, members INTEGER, blocks INTEGER, bytes INTEGER);
CREATE TABLE out_of_memory (time_ns INTEGER, pid INTEGER, device TEXT, requested_bytes INTEGER, step INTEGER, phase TEXT);
CREATE TABLE slices (pid INTEGER, track TEXT, kind TEXT, name TEXT, depth INTEGER, begin_ns INTEGER, end_ns INTEGER);
CREATE TABLE blocks (block INTEGER PRIMARY KEY, device INTEGER, address INTEGER, bytes INTEGER, requested_bytes INTEGER,
  stream INTEGER, alloc_ns INTEGER, free_ns INTEGER, step INTEGER, phase TEXT, first_category INTEGER,
  last_category INTEGER, peak_category INTEGER, name INTEGER, module INTEGER, op INTEGER, line INTEGER, stack INTEGER);
CREATE TABLE stacks (stack INTEGER, position INTEGER, frame INTEGER, PRIMARY KEY (stack, position)) WITHOUT ROWID;
CREATE TABLE operators (operator INTEGER PRIMARY KEY, parent INTEGER, pid INTEGER, thread INTEGER, name INTEGER, stack INTEGER,
  begin_ns INTEGER, end_ns INTEGER);
CREATE TABLE segments (pid INTEGER, device TEXT, address INTEGER, bytes INTEGER, mapped INTEGER, begin_ns INTEGER, end_ns INTEGER);
CREATE TABLE driver_rows (time_ns INTEGER, device TEXT, pid INTEGER, owner TEXT, library TEXT, bytes INTEGER);
CREATE TABLE device_used (time_ns INTEGER, device TEXT, used_bytes INTEGER);
CREATE TABLE counters (time_ns INTEGER, pid INTEGER, name TEXT, value INTEGER);
)sql";

inline constexpr char kSqliteViews[] = R"sql(
CREATE VIEW blocks_named AS
  SELECT b.block, d.name AS device, d.pid, b.address, b.bytes, b.requested_bytes, b.stream, b.alloc_ns, b.free_ns,
    b.step, b.phase, f.key AS first_category, l.key AS last_category, p.key AS peak_category,
    n.value AS name, m.value AS module, o.value AS op, s.value AS line, b.stack
  FROM blocks b JOIN devices d USING (device) JOIN categories f ON f.category = b.first_category
    JOIN categories l ON l.category = b.last_category LEFT JOIN categories p ON p.category = b.peak_category
    LEFT JOIN texts n ON n.text = b.name LEFT JOIN texts m ON m.text = b.module
    LEFT JOIN texts o ON o.text = b.op LEFT JOIN texts s ON s.text = b.line;
CREATE VIEW frames AS
  SELECT stack, position, value AS frame FROM stacks JOIN texts ON text = stacks.frame;
CREATE VIEW live_at_peak AS SELECT * FROM blocks_named WHERE peak_category IS NOT NULL;
CREATE VIEW step_growth AS
  SELECT step, end_allocated_bytes, end_allocated_bytes - lag(end_allocated_bytes) OVER (ORDER BY step) AS grown_bytes
  FROM steps;
)sql";

}  // namespace vramscope::exporting
