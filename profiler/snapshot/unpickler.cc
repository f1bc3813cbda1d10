// SPDX-License-Identifier: Apache-2.0
#include "profiler/snapshot/unpickler.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "profiler/snapshot/flat_dicts.h"
#include "profiler/snapshot/frame_lists.h"
#include "profiler/snapshot/opcode_bytes.h"
#include "profiler/snapshot/refused_opcodes.h"

namespace vramscope::snapshot {
namespace {

// The window contains at least this many bytes when an opcode begins, unless the file is shorter.
constexpr ptrdiff_t kLowWater = 8192;
constexpr uint64_t kMaxLine = 4096;
constexpr uint64_t kMaxLongBytes = 4096;

class Machine {
 public:
  Machine(ByteStream* in, Objects* objects)
      : in_(*in), objects_(*objects), lists_(objects), dicts_(objects, &lists_) {}

  Status Run() {
    objects_.budget().Read(static_cast<size_t>(in_.end() - in_.begin()));
    VRAMSCOPE_TRY(Refill(in_.begin(), ByteStream::kWindow));
    for (;;) {
      if (end_ - p_ < kLowWater && !in_.at_end()) {
        VRAMSCOPE_TRY(Refill(p_, ByteStream::kWindow));
      }
      if (p_ >= end_) return Cut();
      opcode_at_ = p_;
      const Next next = Step(*p_++);
      if (next == Next::kOn) [[likely]]
        continue;
      if (p_ > end_ || next == Next::kCut) return Cut();
      if (next == Next::kStop) return {};
      if (!error_.empty()) return Error{error_};
      return Error{"byte " + Position() + ": " + objects_.problem()};
    }
  }

 private:
  enum class Next { kOn, kStop, kFailed, kCut };

  static Next On(bool ok) { return ok ? Next::kOn : Next::kFailed; }

  // Reads one opcode. Arguments of fixed length may reach into the padding after the file's end; the next
  // call detects that.
  Next Step(uint8_t opcode) {
    switch (opcode) {
      case 'h':
        return On(objects_.Get(*p_++));
      case 'j':
        p_ += 4;
        return On(objects_.Get(Load<uint32_t>(p_ - 4)));
      case 0x94:
        return On(objects_.Memoize());
      case 'q':
        return On(objects_.Put(*p_++));
      case 'r':
        p_ += 4;
        return On(objects_.Put(Load<uint32_t>(p_ - 4)));
      case ']': {
        const FrameLists::Answer list = lists_.Read(p_, end_);
        p_ = list.next;
        if (list.taken) return On(list.ok);
        return On(objects_.OpenList());
      }
      case '}': {
        const FlatDicts::Answer dict = dicts_.Read(p_, end_);
        p_ = dict.next;
        return On(dict.ok);
      }
      case '(':
        return On(objects_.Mark());
      case 'e':
        return On(objects_.Appends());
      case 'u':
        return On(objects_.SetItems());
      case 'a':
        return On(objects_.Append());
      case 's':
        return On(objects_.SetItem());
      case 't':
      case 'l':
        return On(objects_.ListSinceMark());
      case 'd':
        return On(objects_.DictSinceMark());
      case ')':
        return On(objects_.OpenList());
      case 0x85:
      case 0x86:
      case 0x87:
        return On(objects_.Tuple(opcode - 0x84u));
      case 'N':
        return On(objects_.Push(Value()));
      case 0x88:
      case 0x89:
        return On(objects_.Push(Value(Kind::kBool, opcode == 0x88 ? 1 : 0)));
      case 0x80:
        if (*p_++ > 5)
          return Fail("it is a pickle of protocol " + std::to_string(p_[-1]) +
                      ", but vramscope reads only protocols up to 5");
        return Next::kOn;
      case 0x95:
        p_ += 8;
        return Next::kOn;
      case '.':
        return Next::kStop;
      default:
        return Number(opcode);
    }
  }

  Next Number(uint8_t opcode) {
    switch (opcode) {
      case 'K':
        return On(objects_.Push(Value::Int(*p_++)));
      case 'M':
        p_ += 2;
        return On(objects_.Push(Value::Int(Load<uint16_t>(p_ - 2))));
      case 'J':
        p_ += 4;
        return On(objects_.Push(Value::Int(Load<int32_t>(p_ - 4))));
      case 0x8a:
        return Long(*p_++);
      case 0x8b:
        p_ += 4;
        return Long(Load<uint32_t>(p_ - 4));
      case 'G': {
        uint64_t bits = Load<uint64_t>(p_);
        p_ += 8;
        if constexpr (std::endian::native == std::endian::little) bits = __builtin_bswap64(bits);
        return On(objects_.PushFloat(std::bit_cast<double>(bits)));
      }
      default:
        return Text(opcode);
    }
  }

  // Two's complement, little-endian, of any length.
  Next Long(uint64_t length) {
    if (length > kMaxLongBytes) return Fail("it has a number of " + std::to_string(length) + " bytes");
    if (!Available(length)) return Next::kCut;
    const uint8_t* bytes = p_;
    p_ += length;
    if (length <= kMaxShortLong)
      return On(objects_.Push(Value::Int(ShortLong(bytes, static_cast<uint8_t>(length)))));
    const bool negative = (bytes[length - 1] & 0x80) != 0;
    uint64_t low = negative ? ~uint64_t{0} : 0;
    std::memcpy(&low, bytes, std::min<uint64_t>(length, 8));
    if (length <= 8)
      return On(negative || low >> 63 == 0 ? objects_.PushInt(static_cast<int64_t>(low))
                                           : objects_.PushUnsigned(low));
    if (length == 9 && bytes[8] == 0) return On(objects_.PushUnsigned(low));
    double number = 0;
    for (uint64_t i = length; i-- > 0;) number = number * 256 + (negative ? 255 - bytes[i] : bytes[i]);
    return On(objects_.PushFloat(negative ? -number - 1 : number));
  }

  Next Text(uint8_t opcode) {
    switch (opcode) {
      case 0x8c:
        return String(*p_++);
      case 'X':
        p_ += 4;
        return String(Load<uint32_t>(p_ - 4));
      case 0x8d:
        p_ += 8;
        return String(Load<uint64_t>(p_ - 8));
      case 'I':
      case 'L':
      case 'F':
      case 'V':
        return Line(opcode);
      case 'g':
      case 'p':
        return Fail(
            "it is a pickle of protocol 0, which no release of PyTorch writes; write it again with protocol "
            "2 or later");
      default:
        return Refuse(opcode);
    }
  }

  Next String(uint64_t length) {
    if (p_ > end_) return Next::kCut;
    if (length > ByteStream::kMaxWindow)
      return Fail("it has a string of " + std::to_string(length) + " bytes");
    if (!Available(length)) return Next::kCut;
    p_ += length;
    return On(objects_.PushText({reinterpret_cast<const char*>(p_) - length, static_cast<size_t>(length)}));
  }

  // Protocol 1 writes large numbers as lines of text.
  Next Line(uint8_t opcode) {
    std::string_view text;
    if (!TakeLine(&text)) return Next::kCut;
    int64_t number = 0;
    switch (opcode) {
      case 'V':
        return On(objects_.PushText(text));
      case 'F':
        return On(objects_.PushFloat(std::strtod(std::string(text).c_str(), nullptr)));
      case 'I':
        if (text == "01" || text == "00") return On(objects_.Push(Value(Kind::kBool, text == "01" ? 1 : 0)));
        break;
      case 'L':
        if (text.ends_with('L')) text.remove_suffix(1);
        break;
      default:
        break;
    }
    uint64_t large = 0;
    const char* const last = text.data() + text.size();
    const bool small = std::from_chars(text.data(), last, number).ec == std::errc();
    if (!small &&
        (opcode == 'g' || opcode == 'p' || std::from_chars(text.data(), last, large).ec != std::errc())) {
      return Fail("it has a line that should be a number but is not");
    }
    return On(small ? objects_.PushInt(number) : objects_.PushUnsigned(large));
  }

  bool TakeLine(std::string_view* text) {
    if (!Available(1)) return false;
    const void* newline =
        std::memchr(p_, '\n', static_cast<size_t>(std::min<ptrdiff_t>(end_ - p_, kMaxLine)));
    if (newline == nullptr) return false;
    const auto length = static_cast<size_t>(static_cast<const uint8_t*>(newline) - p_);
    *text = {reinterpret_cast<const char*>(p_), length};
    p_ += length + 1;
    return true;
  }

  Next Refuse(uint8_t opcode) {
    const char* const name = NameOfRefused(opcode);
    if (name == nullptr)
      return Fail("it is not a pickle, or is damaged: there is no opcode " + std::to_string(opcode));
    std::string what = "it asks for ";
    what += name;
    std::string_view module;
    std::string_view function;
    if (opcode == 'c' || opcode == 'i') {
      if (TakeLine(&module) && TakeLine(&function))
        what.append(" ").append(module).append(".").append(function);
    } else if (opcode == 0x93) {
      what.append(" ").append(objects_.TextFromTop(1)).append(".").append(objects_.TextFromTop(0));
    }
    return Fail(
        what.append(", which no memory snapshot needs. The file was refused, and none of its code was run"));
  }

  Next Fail(const std::string& why) {
    if (p_ > end_) return Next::kCut;
    error_ = "byte " + Position() + ": " + why;
    return Next::kFailed;
  }

  [[nodiscard]] std::string Position() const {
    return std::to_string(in_.offset() + static_cast<uint64_t>(opcode_at_ - in_.begin()));
  }

  // True if `bytes` are in the window after p_.
  bool Available(uint64_t bytes) {
    if (p_ <= end_ && static_cast<uint64_t>(end_ - p_) >= bytes) return true;
    if (p_ > end_ || in_.at_end()) return false;
    if (const Status read = Refill(p_, std::max<size_t>(bytes, ByteStream::kWindow)); !read.ok()) {
      error_ = read.error().sentence;
      return false;
    }
    return static_cast<uint64_t>(end_ - p_) >= bytes;
  }

  Status Refill(const uint8_t* from, size_t bytes) {
    const auto known = static_cast<size_t>(in_.end() - from);
    const Status read = in_.Fill(from, bytes);
    p_ = in_.begin();
    opcode_at_ = p_;
    end_ = in_.end();
    objects_.budget().Read(static_cast<size_t>(end_ - p_) - known);
    return read;
  }

  Status Cut() const {
    if (!error_.empty()) return Error{error_};
    const uint64_t bytes = in_.offset() + static_cast<uint64_t>(in_.end() - in_.begin());
    return Error{"it is cut off after " + std::to_string(bytes) + " bytes; copy or record it again"};
  }

  ByteStream& in_;
  Objects& objects_;
  FrameLists lists_;
  FlatDicts dicts_;
  const uint8_t* p_ = nullptr;
  const uint8_t* end_ = nullptr;
  const uint8_t* opcode_at_ = nullptr;
  std::string error_;
};

}  // namespace

Status Unpickle(ByteStream* in, Objects* objects) { return Machine(in, objects).Run(); }

}  // namespace vramscope::snapshot
