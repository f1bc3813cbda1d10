// SPDX-License-Identifier: Apache-2.0
// Columns of a table in the memory layout of Apache Arrow, so that readers need no copy.
//
//   Int64Column   values   1500 │ 1510 │ 0 │ 1530          validity bits, least significant first:  1 1 0 1
//   TextColumn    codes       0 │    1 │ 0 │    0          a dictionary: "cuda:0", "cpu"
//
// Validity bits exist only if a value is missing. A missing number is 0 in `values`; a missing text has the
// code 0. Texts are UTF-8 without line breaks (text::Clean). Bytes that are not UTF-8 are replaced by U+FFFD.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace vramscope::python {

// The distinct texts of a column, one after the other. Text i is bytes[offsets[i], offsets[i + 1]).
struct Dictionary {
  std::vector<int32_t> offsets = {0};
  std::string bytes;

  [[nodiscard]] int64_t size() const { return static_cast<int64_t>(offsets.size()) - 1; }
};

class Column {
 public:
  virtual ~Column() = default;
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const char* format() const { return format_; }
  [[nodiscard]] int64_t rows() const { return rows_; }
  [[nodiscard]] int64_t missing() const { return missing_; }
  // The validity bits, or nullptr if no value is missing.
  [[nodiscard]] const uint8_t* validity() const { return validity_.empty() ? nullptr : validity_.data(); }
  [[nodiscard]] virtual const void* values() const = 0;
  [[nodiscard]] virtual const Dictionary* dictionary() const { return nullptr; }

 protected:
  Column(std::string name, const char* format) : name_(std::move(name)), format_(format) {}

  void NoteRow(bool present) {
    if (!present && validity_.empty()) StartValidity();
    const int64_t row = rows_++;
    missing_ += present ? 0 : 1;
    if (validity_.empty()) return;
    if (static_cast<size_t>(row / 8) == validity_.size()) validity_.push_back(0);
    if (present) validity_[static_cast<size_t>(row / 8)] |= static_cast<uint8_t>(1U << (row % 8));
  }

 private:
  // Creates the validity bits. All rows up to now are present.
  void StartValidity() {
    validity_.assign(static_cast<size_t>(rows_ / 8 + 1), 0xff);
    validity_.back() = static_cast<uint8_t>((1U << (rows_ % 8)) - 1);
  }

  std::string name_;
  const char* format_;
  int64_t rows_ = 0;
  int64_t missing_ = 0;
  std::vector<uint8_t> validity_;
};

template <typename T>
class NumberColumn : public Column {
 public:
  explicit NumberColumn(std::string name) : Column(std::move(name), sizeof(T) == 8 ? "l" : "i") {}

  // Values above the type's range wrap around.
  void Add(uint64_t value) {
    NoteRow(true);
    values_.push_back(static_cast<T>(value));
  }
  void AddMissing() {
    NoteRow(false);
    values_.push_back(0);
  }
  void AddMaybe(std::optional<uint64_t> value) { value.has_value() ? Add(*value) : AddMissing(); }
  void Reserve(size_t rows) { values_.reserve(rows); }
  [[nodiscard]] const void* values() const override { return values_.data(); }

 private:
  std::vector<T> values_;
};
using Int64Column = NumberColumn<int64_t>;
using Int32Column = NumberColumn<int32_t>;

class BoolColumn : public Column {
 public:
  explicit BoolColumn(std::string name) : Column(std::move(name), "b") {}

  void Add(bool value) {
    const auto row = static_cast<size_t>(rows());
    NoteRow(true);
    if (row / 8 == bits_.size()) bits_.push_back(0);
    if (value) bits_[row / 8] |= static_cast<uint8_t>(1U << (row % 8));
  }
  [[nodiscard]] const void* values() const override { return bits_.data(); }

 private:
  std::vector<uint8_t> bits_;
};

class TextColumn : public Column {
 public:
  explicit TextColumn(std::string name) : Column(std::move(name), "i") {}

  // "" is a missing value.
  void Add(std::string_view text) { AddCode(text.empty() ? kMissing : CodeOf(text)); }
  void AddMissing() { AddCode(kMissing); }
  // Adds the text of `key`. Calls `text()` only for the first row with this key.
  template <typename Text>
  void AddKey(uint64_t key, const Text& text) {
    if (key < kFewKeys) {
      if (key >= code_of_small_key_.size()) code_of_small_key_.resize(static_cast<size_t>(key) + 1, kUnknown);
      int32_t& code = code_of_small_key_[static_cast<size_t>(key)];
      if (code == kUnknown) code = CodeOrMissing(text());
      AddCode(code);
      return;
    }
    const auto found = code_of_key_.find(key);
    AddCode(found != code_of_key_.end() ? found->second
                                        : code_of_key_.emplace(key, CodeOrMissing(text())).first->second);
  }
  void Reserve(size_t rows) { codes_.reserve(rows); }
  [[nodiscard]] const void* values() const override { return codes_.data(); }
  [[nodiscard]] const Dictionary* dictionary() const override { return &dictionary_; }

 private:
  static constexpr int32_t kMissing = -1;
  static constexpr int32_t kUnknown = -2;
  static constexpr uint64_t kFewKeys = 1 << 16;

  void AddCode(int32_t code) {
    NoteRow(code != kMissing);
    codes_.push_back(code == kMissing ? 0 : code);
  }
  int32_t CodeOrMissing(std::string_view text) { return text.empty() ? kMissing : CodeOf(text); }
  int32_t CodeOf(std::string_view text);

  std::vector<int32_t> codes_;
  Dictionary dictionary_;
  std::unordered_map<std::string, int32_t> code_of_text_;
  std::unordered_map<uint64_t, int32_t> code_of_key_;
  std::vector<int32_t> code_of_small_key_;
};

}  // namespace vramscope::python
