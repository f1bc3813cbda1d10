// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/device/settings.h"

#include <cstdlib>
#include <cstring>

namespace vramscope::simulated {
namespace {

constexpr char kDefaultGpu[] = "h100-80gb";

struct Model {
  const Gpu* gpu;
  int devices;
};

// "h100-80gb:2"
Model ParseModel(const char* text) {
  char name[64] = {};
  const char* colon = std::strchr(text, ':');
  const size_t length = colon != nullptr ? static_cast<size_t>(colon - text) : std::strlen(text);
  if (length >= sizeof(name)) return {FindGpu(kDefaultGpu), 0};
  std::memcpy(name, text, length);
  const Gpu* const gpu = FindGpu(name);
  const long devices = colon != nullptr ? std::strtol(colon + 1, nullptr, 10) : 1;
  if (gpu == nullptr || devices < 1 || devices > kMaxDevices) return {FindGpu(kDefaultGpu), 0};
  return {gpu, static_cast<int>(devices)};
}

uint64_t BytesOr(const char* text, uint64_t absent) {
  if (text == nullptr || *text == '\0') return absent;
  if (std::strcmp(text, "0") == 0) return 0;
  const uint64_t bytes = ParseBytes(text);
  return bytes != 0 ? bytes : absent;
}

}  // namespace

uint64_t ParseBytes(const char* text) {
  char* unit = nullptr;
  const unsigned long long number = std::strtoull(text, &unit, 10);
  if (unit == text) return 0;
  int power = 0;
  if (*unit != '\0' && *unit != 'B') {
    const char* const found = std::strchr("KMGT", *unit);
    if (found == nullptr) return 0;
    power = static_cast<int>(found - "KMGT") + 1;
    ++unit;
    if (*unit == 'i') ++unit;
  }
  if (*unit == 'B') ++unit;
  return *unit == '\0' ? static_cast<uint64_t>(number) << (10 * power) : 0;
}

Settings MakeSettings(const char* gpu, const char* capacity, const char* context, const char* copy_limit,
                      const char* lag, const char* ledger) {
  const Model model = ParseModel(gpu != nullptr ? gpu : kDefaultGpu);
  Settings settings = {};
  settings.gpu = model.gpu;
  settings.devices = model.devices;
  settings.capacity = BytesOr(capacity, model.gpu->total_mib * kMib);
  settings.context = BytesOr(context, model.gpu->context_mib * kMib);
  settings.copy_limit = BytesOr(copy_limit, kMib);
  settings.lag = lag != nullptr ? std::strtoull(lag, nullptr, 10) : 1;
  settings.ledger = ledger;
  return settings;
}

const Settings& TheSettings() {
  static const Settings settings =
      MakeSettings(std::getenv("VRAMSCOPE_SIMULATED_GPU"), std::getenv("VRAMSCOPE_SIMULATED_CAPACITY"),
                   std::getenv("VRAMSCOPE_SIMULATED_CONTEXT"), std::getenv("VRAMSCOPE_SIMULATED_COPY_LIMIT"),
                   std::getenv("VRAMSCOPE_SIMULATED_LAG"), std::getenv("VRAMSCOPE_SIMULATED_LEDGER"));
  return settings;
}

}  // namespace vramscope::simulated
