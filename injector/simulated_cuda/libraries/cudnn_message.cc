// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/libraries/cudnn_message.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace vramscope::simulated::cudnn {
namespace {

bool IsSetByCudnn(int name) {
  if (name < 0) return true;
  switch (name) {
    case kHeuristicsResults:
    case kConfigurationWorkspace:
    case kConfigurationSharedMemory:
    case kPlanWorkspace:
    case kPlanJson:
    case kGraphEngineCount:
    case kEngineKnobs:
    case kEngineNumericalNotes:
    case kEngineBehaviorNotes:
      return true;
    default:
      return false;
  }
}

class Writer {
 public:
  explicit Writer(bool with_answers) : with_answers_(with_answers) {}

  std::string Finish(const Descriptor& root) {
    Add(root);
    std::string text;
    Put(text, static_cast<uint32_t>(numbers_.size()));
    return text + body_;
  }

 private:
  template <typename Number>
  static void Put(std::string& to, Number value) {
    to.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }

  [[nodiscard]] bool IsSent(int name, const Attribute& attribute) const {
    if (attribute.type == kHandle || attribute.type == kPointer) return false;
    return with_answers_ || !IsSetByCudnn(name);
  }

  uint64_t Add(const Descriptor& descriptor) {
    if (const auto known = numbers_.find(&descriptor); known != numbers_.end()) return known->second;
    std::string own;
    uint32_t count = 0;
    for (const auto& [name, attribute] : descriptor.attributes()) {
      if (!IsSent(name, attribute)) continue;
      ++count;
      Put(own, static_cast<int32_t>(name));
      Put(own, static_cast<int32_t>(attribute.type));
      Put(own, attribute.count);
      if (attribute.type == kDescriptor) {
        for (const Descriptor* const child : descriptor.Children(name))
          Put(own, child != nullptr ? Add(*child) : ~uint64_t{0});
      } else {
        own.append(reinterpret_cast<const char*>(attribute.bytes.data()), attribute.bytes.size());
      }
    }
    Put(body_, static_cast<int32_t>(descriptor.kind()));
    Put(body_, count);
    body_ += own;
    return numbers_.emplace(&descriptor, numbers_.size()).first->second;
  }

  bool with_answers_;
  std::string body_;
  std::map<const Descriptor*, uint64_t> numbers_;
};

class Reader {
 public:
  explicit Reader(const std::string& text) : text_(text) {}
  ~Reader() {
    for (Descriptor* const descriptor : made_) descriptor->Release();
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  Descriptor* Root() {
    const auto count = Take<uint32_t>();
    for (uint32_t i = 0; i < count && good_; ++i) ReadDescriptor();
    if (!good_ || made_.empty() || at_ != text_.size()) return nullptr;
    made_.back()->Keep();
    return made_.back();
  }

 private:
  template <typename Number>
  Number Take() {
    Number value{};
    if (const char* const bytes = TakeBytes(sizeof(value))) std::memcpy(&value, bytes, sizeof(value));
    return value;
  }

  const char* TakeBytes(size_t count) {
    good_ = good_ && count <= text_.size() - at_;
    if (!good_) return nullptr;
    at_ += count;
    return text_.data() + at_ - count;
  }

  void ReadDescriptor() {
    auto* const descriptor = new Descriptor(Take<int32_t>());
    made_.push_back(descriptor);
    const auto attributes = Take<uint32_t>();
    for (uint32_t i = 0; i < attributes && good_; ++i) ReadAttribute(*descriptor);
  }

  void ReadAttribute(Descriptor& descriptor) {
    const auto name = Take<int32_t>();
    const auto type = Take<int32_t>();
    const auto count = Take<int64_t>();
    good_ = good_ && count >= 0 && static_cast<uint64_t>(count) <= text_.size();
    const size_t size = good_ ? static_cast<size_t>(count) * BytesOf(type) : 0;
    const char* const elements = TakeBytes(size);
    if (!good_) return;
    if (type != kDescriptor) return descriptor.Set(name, type, count, elements);
    std::vector<Descriptor*> children(static_cast<size_t>(count));
    for (size_t i = 0; i < children.size(); ++i) {
      uint64_t number = 0;
      std::memcpy(&number, elements + i * sizeof(number), sizeof(number));
      good_ = good_ && number < made_.size() - 1;  // no descriptor refers to itself or a later one
      if (!good_) return;
      children[i] = made_[number];
    }
    descriptor.Set(name, type, count, children.data());
  }

  const std::string& text_;
  size_t at_ = 0;
  bool good_ = true;
  std::vector<Descriptor*> made_;
};

bool IsReady(int pipe, int seconds) {
  pollfd one = {pipe, POLLIN, 0};
  int ready = 0;
  do {
    ready = poll(&one, 1, seconds < 0 ? -1 : seconds * 1000);
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

bool ReceiveBytes(int pipe, int seconds, char* to, size_t count) {
  while (count > 0) {
    if (!IsReady(pipe, seconds)) return false;
    const ssize_t got = read(pipe, to, count);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    to += got;
    count -= static_cast<size_t>(got);
  }
  return true;
}

}  // namespace

std::string TextOfQuestion(const Descriptor& root) { return Writer(false).Finish(root); }
std::string TextOfAnswer(const Descriptor& root) { return Writer(true).Finish(root); }
Descriptor* ParseTree(const std::string& text) { return Reader(text).Root(); }

bool SendMessage(int pipe, const std::string& bytes) {
  std::string message;
  const auto size = static_cast<uint32_t>(bytes.size());
  if (bytes.size() > kLargestMessage) return false;
  message.append(reinterpret_cast<const char*>(&size), sizeof(size)).append(bytes);
  for (size_t sent = 0; sent < message.size();) {
    const ssize_t now = send(pipe, message.data() + sent, message.size() - sent, MSG_NOSIGNAL);
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0) return false;
    sent += static_cast<size_t>(now);
  }
  return true;
}

bool ReceiveMessage(int pipe, int seconds, std::string* bytes) {
  uint32_t size = 0;
  if (!ReceiveBytes(pipe, seconds, reinterpret_cast<char*>(&size), sizeof(size)) || size > kLargestMessage)
    return false;
  bytes->resize(size);
  return ReceiveBytes(pipe, seconds, bytes->data(), size);
}

}  // namespace vramscope::simulated::cudnn
