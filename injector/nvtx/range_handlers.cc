// SPDX-License-Identifier: Apache-2.0
#include "injector/core/thread_ring.h"
#include "injector/nvtx/handlers.h"
#include "injector/nvtx/names.h"
#include "injector/nvtx/open_ranges.h"

namespace vramscope::injector::nvtx {
namespace {

constexpr auto kNvtx = static_cast<uint16_t>(trace::RangeKind::kNvtx);
constexpr auto kUser = static_cast<uint16_t>(trace::MarkKind::kUser);

// Answers to calls that the other injection does not listen to. They must not reach it as its own.
constexpr RangeId kOurRangeIds = 0x76726d7300000000;
constinit std::atomic<uint32_t> range_ids_given = 0;

RangeId ForNext(RangeId id) { return id >> 32 == kOurRangeIds >> 32 ? 0 : id; }

// The handle for the next injection. A handle of our own maps to itself (Remember) and becomes nullptr.
Handle ForNext(Handle handle) {
  return MeaningOf(handle) == reinterpret_cast<uint64_t>(handle) ? nullptr : handle;
}

// The name and number of one call.
struct Label {
  const Name* name = nullptr;  // nullptr: not recorded
  int32_t payload_type = kNoPayload;
  uint64_t whole = 0;
  double real = 0;
};

void ReadPayload(const EventAttributes& attributes, Label& label) {
  label.payload_type = attributes.payload_type;
  switch (attributes.payload_type) {
    case kUnsigned64:
      label.whole = attributes.payload.unsigned64;
      break;
    case kSigned64:
      label.whole = static_cast<uint64_t>(attributes.payload.signed64);
      break;
    case kUnsigned32:
      label.whole = attributes.payload.unsigned32;
      break;
    case kSigned32:
      label.whole = static_cast<uint64_t>(int64_t{attributes.payload.signed32});
      break;
    case kDouble:
      label.real = attributes.payload.real64;
      break;
    case kFloat:
      label.real = static_cast<double>(attributes.payload.real32);
      break;
    default:  // the payload extension: its layout is the program's own
      label.payload_type = kNoPayload;
  }
}

Label LabelOf(Domain domain, const EventAttributes* attributes) {
  Label label;
  if (attributes == nullptr || attributes->size < sizeof(EventAttributes)) return label;
  label.name = NameOf(domain, attributes->message_type, attributes->message);
  ReadPayload(*attributes, label);
  return label;
}

template <typename Character>
Label LabelOf(const Character* text) {
  return {.name = NameOf(nullptr, text)};
}

void RecordMark(const Label& label) {
  const Name* name = label.name;
  if (name != nullptr && (label.payload_type == kDouble || label.payload_type == kFloat))
    name = NameWithReal(*name, label.real);
  if (name != nullptr) Record(trace::EventType::kMark, kUser, name->id, label.whole, 0);
}

void RecordBegin(const Label& label, RangeId id) {
  Record(trace::EventType::kRangeBegin, kNvtx, label.name->id, id);
  if (__builtin_expect(label.payload_type != kNoPayload, 0)) RecordMark(label);
}

int Push(Domain domain, const Label& label) {
  bool recorded = false;
  const int level = PushRange(domain, label.name == nullptr ? 0 : label.name->id, recorded);
  if (recorded && label.name != nullptr) RecordBegin(label, 0);
  return level;
}

int Pop(Domain domain) {
  const Popped popped = PopRange(domain);
  if (popped.name != 0) Record(trace::EventType::kRangeEnd, kNvtx, popped.name, 0);
  return popped.level;
}

RangeId Start(const Label& label, RangeId id) {
  if (id != 0 && label.name != nullptr) RecordBegin(label, id);
  return id;
}

void End(RangeId id) {
  if (id != 0) Record(trace::EventType::kRangeEnd, kNvtx, 0, id);
}

RangeId NewId() { return kOurRangeIds | (range_ids_given.fetch_add(1, std::memory_order_relaxed) + 1); }

const Slot& Core(CoreFunction function);
const Slot& Core2(Core2Function function);

// Only a registered string can be ours. Without one, the program's own struct is passed on, which may be
// longer than our declaration.
template <typename Result>
Result CallWith(Result (*next)(Domain, const EventAttributes*), Domain domain,
                const EventAttributes* attributes) {
  if (attributes == nullptr || attributes->message_type != kRegistered ||
      ForNext(attributes->message.registered) == attributes->message.registered) {
    return next(ForNext(domain), attributes);
  }
  EventAttributes copy = *attributes;
  copy.size = sizeof copy;
  copy.message.registered = nullptr;
  return next(ForNext(domain), &copy);
}

template <typename Argument>
void Mark(CoreFunction function, const Label& label, Argument argument) {
  RecordMark(label);
  if (auto* const next = NextOf<void(Argument)>(Core(function))) next(argument);
}
template <typename Argument>
int PushWith(CoreFunction function, const Label& label, Argument argument) {
  const int level = Push(nullptr, label);
  auto* const next = NextOf<int(Argument)>(Core(function));
  return next == nullptr ? level : next(argument);
}
template <typename Argument>
RangeId StartWith(CoreFunction function, const Label& label, Argument argument) {
  auto* const next = NextOf<RangeId(Argument)>(Core(function));
  return Start(label, next == nullptr ? NewId() : next(argument));
}

void MarkEx(const EventAttributes* attributes) { Mark(kMarkEx, LabelOf(nullptr, attributes), attributes); }
void MarkA(const char* text) { Mark(kMarkA, LabelOf(text), text); }
void MarkW(const wchar_t* text) { Mark(kMarkW, LabelOf(text), text); }
RangeId RangeStartEx(const EventAttributes* attributes) {
  return StartWith(kRangeStartEx, LabelOf(nullptr, attributes), attributes);
}
RangeId RangeStartA(const char* text) { return StartWith(kRangeStartA, LabelOf(text), text); }
RangeId RangeStartW(const wchar_t* text) { return StartWith(kRangeStartW, LabelOf(text), text); }
void RangeEnd(RangeId id) {
  End(id);
  if (auto* const next = NextOf<void(RangeId)>(Core(kRangeEnd))) next(ForNext(id));
}
int RangePushEx(const EventAttributes* attributes) {
  return PushWith(kRangePushEx, LabelOf(nullptr, attributes), attributes);
}
int RangePushA(const char* text) { return PushWith(kRangePushA, LabelOf(text), text); }
int RangePushW(const wchar_t* text) { return PushWith(kRangePushW, LabelOf(text), text); }
int RangePop() {
  const int level = Pop(nullptr);
  auto* const next = NextOf<int()>(Core(kRangePop));
  return next == nullptr ? level : next();
}

void DomainMarkEx(Domain domain, const EventAttributes* attributes) {
  RecordMark(LabelOf(domain, attributes));
  if (auto* const next = NextOf<void(Domain, const EventAttributes*)>(Core2(kDomainMarkEx)))
    CallWith(next, domain, attributes);
}
RangeId DomainRangeStartEx(Domain domain, const EventAttributes* attributes) {
  auto* const next = NextOf<RangeId(Domain, const EventAttributes*)>(Core2(kDomainRangeStartEx));
  return Start(LabelOf(domain, attributes), next == nullptr ? NewId() : CallWith(next, domain, attributes));
}
void DomainRangeEnd(Domain domain, RangeId id) {
  End(id);
  if (auto* const next = NextOf<void(Domain, RangeId)>(Core2(kDomainRangeEnd)))
    next(ForNext(domain), ForNext(id));
}
int DomainRangePushEx(Domain domain, const EventAttributes* attributes) {
  const int level = Push(domain, LabelOf(domain, attributes));
  auto* const next = NextOf<int(Domain, const EventAttributes*)>(Core2(kDomainRangePushEx));
  return next == nullptr ? level : CallWith(next, domain, attributes);
}
int DomainRangePop(Domain domain) {
  const int level = Pop(domain);
  auto* const next = NextOf<int(Domain)>(Core2(kDomainRangePop));
  return next == nullptr ? level : next(ForNext(domain));
}

// Without another injection the name itself is the handle.
Handle Remember(Handle handle, const Name* name) {
  if (name == nullptr) return handle;
  if (handle == nullptr) handle = name;
  RememberHandle(handle, reinterpret_cast<uint64_t>(name));
  return handle;
}

template <typename Character>
Handle RegisterString(Core2Function function, Domain domain, const Character* text) {
  auto* const next = NextOf<Handle(Domain, const Character*)>(Core2(function));
  const Name* const name = IsOfXla(domain) ? nullptr : NameOf(nullptr, text);
  return Remember(next == nullptr ? nullptr : next(ForNext(domain), text), name);
}
Handle DomainRegisterStringA(Domain domain, const char* text) {
  return RegisterString(kDomainRegisterStringA, domain, text);
}
Handle DomainRegisterStringW(Domain domain, const wchar_t* text) {
  return RegisterString(kDomainRegisterStringW, domain, text);
}

template <typename Character>
Domain CreateDomain(Core2Function function, const Character* text) {
  auto* const next = NextOf<Domain(const Character*)>(Core2(function));
  return Remember(next == nullptr ? nullptr : next(text), NameOf(nullptr, text));
}
Domain DomainCreateA(const char* text) { return CreateDomain(kDomainCreateA, text); }
Domain DomainCreateW(const wchar_t* text) { return CreateDomain(kDomainCreateW, text); }

template <typename Function>
Slot SlotFor(unsigned position, Function* ours) {
  return {position, reinterpret_cast<AnyFunction>(ours), nullptr, false};
}

Slot core[] = {
    SlotFor(kMarkEx, MarkEx),
    SlotFor(kMarkA, MarkA),
    SlotFor(kMarkW, MarkW),
    SlotFor(kRangeStartEx, RangeStartEx),
    SlotFor(kRangeStartA, RangeStartA),
    SlotFor(kRangeStartW, RangeStartW),
    SlotFor(kRangeEnd, RangeEnd),
    SlotFor(kRangePushEx, RangePushEx),
    SlotFor(kRangePushA, RangePushA),
    SlotFor(kRangePushW, RangePushW),
    SlotFor(kRangePop, RangePop),
};

Slot core2[] = {
    SlotFor(kDomainMarkEx, DomainMarkEx),
    SlotFor(kDomainRangeStartEx, DomainRangeStartEx),
    SlotFor(kDomainRangeEnd, DomainRangeEnd),
    SlotFor(kDomainRangePushEx, DomainRangePushEx),
    SlotFor(kDomainRangePop, DomainRangePop),
    SlotFor(kDomainRegisterStringA, DomainRegisterStringA),
    SlotFor(kDomainRegisterStringW, DomainRegisterStringW),
    SlotFor(kDomainCreateA, DomainCreateA),
    SlotFor(kDomainCreateW, DomainCreateW),
};

// The table of kCore holds its functions from 1 on in order; that of kCore2 leaves out resources and
// categories.
const Slot& Core(CoreFunction function) { return core[function - kMarkEx]; }
const Slot& Core2(Core2Function function) {
  return core2[function < kDomainRegisterStringA ? function - kDomainMarkEx
                                                 : function - kDomainRegisterStringA + kDomainRangePop];
}

}  // namespace

std::span<Slot> CoreSlots() { return core; }
std::span<Slot> Core2Slots() { return core2; }

}  // namespace vramscope::injector::nvtx
