// SPDX-License-Identifier: Apache-2.0
#include "profiler/snapshot/json_reader.h"

#include <iterator>
#include <nlohmann/json.hpp>

namespace vramscope::snapshot {
namespace {

// The bytes of a stream, one after the other. Copies share the position.
class Bytes {
 public:
  explicit Bytes(ByteStream* in) : in_(*in), p_(in->begin()) {}

  bool AtEnd() {
    if (p_ != in_.end()) return false;
    Refill();
    if (Offset() - value_begin_ > kLongestValue) {
      problem_ = "it has a string of more than " + std::to_string(kLongestValue >> 20) + " MiB";
      p_ = in_.end();
    }
    return p_ == in_.end();
  }
  [[nodiscard]] char Current() const { return static_cast<char>(*p_); }
  void Next() { ++p_; }
  // Marks the end of a value.
  void EndValue() { value_begin_ = Offset(); }
  void CountInto(Budget* budget) { budget_ = budget; }
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  // The parser keeps a text until it ends, in three copies. PyTorch's longest texts are stacks in user
  // metadata.
  static constexpr uint64_t kLongestValue = uint64_t{4} << 20;

  [[nodiscard]] uint64_t Offset() const { return in_.offset() + static_cast<uint64_t>(p_ - in_.begin()); }

  void Refill() {
    const Status read = in_.Fill(p_, ByteStream::kWindow);
    if (!read.ok()) problem_ = read.error().sentence;
    p_ = read.ok() ? in_.begin() : in_.end();
    budget_->Read(static_cast<size_t>(in_.end() - p_));
  }

  ByteStream& in_;
  const uint8_t* p_;
  Budget* budget_ = nullptr;
  uint64_t value_begin_ = 0;
  std::string problem_;
};

class Iterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = char;

  explicit Iterator(Bytes* bytes) : bytes_(bytes) {}  // nullptr: the end
  char operator*() const { return bytes_->Current(); }
  Iterator& operator++() {
    bytes_->Next();
    return *this;
  }
  bool operator==(const Iterator& other) const { return Ended() == other.Ended(); }
  bool operator!=(const Iterator& other) const { return !(*this == other); }

 private:
  [[nodiscard]] bool Ended() const { return bytes_ == nullptr || bytes_->AtEnd(); }
  Bytes* bytes_;
};

// Translates the parser's events to instructions of the pickle machine.
class Events {
 public:
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  Events(Objects* objects, Bytes* bytes) : objects_(*objects), bytes_(*bytes) {}
  [[nodiscard]] const std::string& problem() const { return problem_; }

  bool null() { return Took(objects_.Push(Value())); }
  bool boolean(bool value) { return Took(objects_.Push(Value(Kind::kBool, value ? 1 : 0))); }
  bool number_integer(number_integer_t value) { return Took(objects_.PushInt(value)); }
  bool number_unsigned(number_unsigned_t value) { return Took(objects_.PushUnsigned(value)); }
  bool number_float(number_float_t value, const string_t&) { return Took(objects_.PushFloat(value)); }
  bool string(string_t& value) { return Took(objects_.PushText(value)); }
  bool key(string_t& value) { return Took(objects_.PushText(value)); }
  bool binary(binary_t&) { return false; }
  // A container is created at its end. So it is the newest, and its place is reused if it becomes a record.
  bool start_object(std::size_t) { return Took(objects_.Mark()); }
  bool end_object() { return Took(objects_.DictSinceMark()); }
  bool start_array(std::size_t) { return Took(objects_.Mark()); }
  bool end_array() { return Took(objects_.TupleSinceMark()); }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) {
    problem_ = "it is not JSON, or is cut off, at byte " + std::to_string(position);
    return false;
  }

 private:
  bool Took(bool taken) {
    bytes_.EndValue();
    return taken;
  }

  Objects& objects_;
  Bytes& bytes_;
  std::string problem_;
};

}  // namespace

Status ReadJson(ByteStream* in, Objects* objects) {
  Bytes bytes(in);
  bytes.CountInto(&objects->budget());
  objects->budget().Read(static_cast<size_t>(in->end() - in->begin()));
  Events events(objects, &bytes);
  if (nlohmann::json::sax_parse(Iterator(&bytes), Iterator(nullptr), &events)) return {};
  if (!bytes.problem().empty()) return Error{bytes.problem()};
  return Error{events.problem().empty() ? objects->problem() : events.problem()};
}

}  // namespace vramscope::snapshot
