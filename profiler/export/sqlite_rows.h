// SPDX-License-Identifier: Apache-2.0
// Writes rows into a SQLite database.
#pragma once

#include <sqlite3.h>

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "profiler/text/harmless.h"

namespace vramscope::exporting {

// A connection to a database file. After the first failure, error() is not empty and Do() does nothing.
class Database {
 public:
  explicit Database(const std::string& path) {
    if (sqlite3_open(path.c_str(), &db_) != SQLITE_OK) Fail();
  }
  ~Database() { sqlite3_close(db_); }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  void Do(const char* sql) {
    if (error_.empty() && sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) Fail();
  }
  void Fail() {
    if (error_.empty()) error_ = db_ == nullptr ? "out of memory" : sqlite3_errmsg(db_);
  }
  [[nodiscard]] sqlite3* get() const { return db_; }
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  sqlite3* db_ = nullptr;
  std::string error_;
};

// Writes rows into one table, column by column.
class Rows {
 public:
  Rows(Database& db, const char* table, int columns) : db_(db) {
    std::string sql = std::string("INSERT INTO ") + table + " VALUES (?";
    for (int i = 1; i < columns; ++i) sql += ",?";
    sql += ")";
    if (sqlite3_prepare_v2(db.get(), sql.c_str(), -1, &statement_, nullptr) != SQLITE_OK) db.Fail();
  }
  ~Rows() { sqlite3_finalize(statement_); }
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;

  // SQLite's integers are signed: `number` must be below 2^63.
  Rows& Number(uint64_t number) {
    sqlite3_bind_int64(statement_, ++column_, static_cast<int64_t>(number));
    return *this;
  }
  template <typename T>
  Rows& Maybe(const std::optional<T>& number) {
    return number.has_value() ? Number(static_cast<uint64_t>(*number)) : Null();
  }
  Rows& Step(uint32_t step) { return step == 0 ? Null() : Number(step); }
  Rows& Null() {
    sqlite3_bind_null(statement_, ++column_);
    return *this;
  }
  // A text with static lifetime.
  Rows& Constant(const char* text) {
    sqlite3_bind_text(statement_, ++column_, text, -1, SQLITE_STATIC);
    return *this;
  }
  // A recorded name; it is cleaned first.
  Rows& Name(std::string_view name) {
    const std::string clean = text::Clean(name);
    sqlite3_bind_text(statement_, ++column_, clean.data(), static_cast<int>(clean.size()), SQLITE_TRANSIENT);
    return *this;
  }
  void Add() {
    if (db_.error().empty() && sqlite3_step(statement_) != SQLITE_DONE) db_.Fail();
    sqlite3_reset(statement_);
    column_ = 0;
  }

 private:
  Database& db_;
  sqlite3_stmt* statement_ = nullptr;
  int column_ = 0;
};

// Writes the table `texts`: each text once, numbered from 1.
class Texts {
 public:
  explicit Texts(Database& db) : rows_(db, "texts", 2) {}

  // Returns the number of `text`, or 0 for "". `text` must outlive this object.
  uint64_t NumberOf(std::string_view text) {
    if (text.empty()) return 0;
    const auto [found, added] = numbers_.emplace(text, numbers_.size() + 1);
    if (added) rows_.Number(found->second).Name(text).Add();
    return found->second;
  }
  void Put(Rows& rows, std::string_view text) {
    const uint64_t number = NumberOf(text);
    number == 0 ? rows.Null() : rows.Number(number);
  }

 private:
  Rows rows_;
  std::unordered_map<std::string_view, uint64_t> numbers_;
};

}  // namespace vramscope::exporting
