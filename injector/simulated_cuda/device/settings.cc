// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/device/settings.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "trace_format/device_use.h"
#include "trace_format/ring.h"

namespace vramscope::simulated {
namespace {

constexpr char kDefaultGpu[] = "h100-80gb";

struct Model {
  const Gpu* gpu;
  int devices;
};

// The GPU described in the environment, if it has that name.
const Gpu* DescribedGpu(const char* name) {
  static Gpu described = {};
  static const bool there = [] {
    const char* const text = std::getenv("VRAMSCOPE_SIMULATED_GPU_DESCRIPTION");
    return text != nullptr && ParseGpu(text, &described);
  }();
  return there && std::strcmp(described.name, name) == 0 ? &described : nullptr;
}

// "h100-80gb:2"
Model ParseModel(const char* text) {
  char name[64] = {};
  const char* colon = std::strchr(text, ':');
  const size_t length = colon != nullptr ? static_cast<size_t>(colon - text) : std::strlen(text);
  if (length >= sizeof(name)) return {FindGpu(kDefaultGpu), 0};
  std::memcpy(name, text, length);
  const Gpu* gpu = FindGpu(name);
  if (gpu == nullptr) gpu = DescribedGpu(name);
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

// One word of CUDA_VISIBLE_DEVICES: "2", or a UUID's beginning; -1 = no such device.
int DeviceNamed(const char* word, size_t length, int devices) {
  char* end = nullptr;
  const long number = std::strtol(word, &end, 10);
  if (end == word + length && length != 0)
    return number >= 0 && number < devices ? static_cast<int>(number) : -1;
  for (int device = 0; length > 4 && device < devices; ++device) {
    char uuid[64];
    PutUuidText(device, uuid, sizeof(uuid));
    if (length <= std::strlen(uuid) && std::strncmp(uuid, word, length) == 0) return device;
  }
  return -1;
}

// The file for the processes of one run: the named one, or one in the folder of the recording's rings.
const char* SharedFile() {
  if (const char* const named = std::getenv(trace::kDeviceUseVariable))
    return *named != '\0' ? named : nullptr;
  const char* const session = std::getenv(trace::kSessionVariable);
  static char path[4096];
  if (session == nullptr || std::strlen(session) + 32 > sizeof(path)) return nullptr;
  std::snprintf(path, sizeof(path), "%s/simulated_devices", session);
  return path;
}

}  // namespace

uint64_t ParseBytes(const char* text) {
  char* unit = nullptr;
  const unsigned long long number = std::strtoull(text, &unit, 10);
  if (unit == text) return 0;
  if (*unit == '\0' || std::strcmp(unit, "B") == 0) return number;
  static constexpr char kPowers[] = "KMGT";
  const char* const found = std::strchr(kPowers, *unit);
  if (found == nullptr) return 0;
  const bool binary = unit[1] == '\0' || std::strcmp(unit + 1, "iB") == 0;
  if (!binary && std::strcmp(unit + 1, "B") != 0) return 0;
  uint64_t bytes = number;
  for (const char* power = kPowers; power <= found; ++power) bytes *= binary ? 1024 : 1000;
  return bytes;
}

int PhysicalNumber(int device) {
  const Settings& settings = TheSettings();
  return device >= 0 && device < settings.devices ? settings.physical[device] : -1;
}

int VisibleNumber(int physical) {
  const Settings& settings = TheSettings();
  for (int device = 0; device < settings.devices; ++device)
    if (settings.physical[device] == physical) return device;
  return -1;
}

void PutUuidText(int physical, char* text, size_t capacity) {
  std::snprintf(text, capacity, "GPU-7672616d-7363-6f70-652d-6770752d%04x", physical + 1);
}

void ChooseVisible(const char* text, Settings& settings) {
  settings.devices = 0;
  for (int device = 0; text == nullptr && device < settings.machine_devices; ++device)
    settings.physical[settings.devices++] = device;
  while (text != nullptr && *text != '\0') {
    const size_t length = std::strcspn(text, ",");
    const int device = DeviceNamed(text, length, settings.machine_devices);
    if (device < 0) return;
    for (int i = 0; i < settings.devices; ++i) {
      if (settings.physical[i] != device) continue;
      settings.devices = 0;
      return;
    }
    settings.physical[settings.devices++] = device;
    text += length;
    if (*text == ',') ++text;
  }
}

Settings MakeSettings(const char* gpu, const char* capacity, const char* context, const char* copy_limit,
                      const char* lag, const char* ledger) {
  const Model model = ParseModel(gpu != nullptr ? gpu : kDefaultGpu);
  Settings settings = {};
  settings.gpu = model.gpu;
  settings.machine_devices = model.devices;
  ChooseVisible(nullptr, settings);
  settings.capacity = BytesOr(capacity, model.gpu->total_mib * kMib);
  settings.context = BytesOr(context, UINT64_MAX);
  settings.context_basis = settings.context != UINT64_MAX ? kGiven : model.gpu->context_basis;
  if (settings.context == UINT64_MAX) settings.context = model.gpu->context_mib * kMib;
  settings.copy_limit = BytesOr(copy_limit, kMib);
  settings.lag = lag != nullptr ? std::strtoull(lag, nullptr, 10) : 1;
  settings.ledger = ledger;
  return settings;
}

const Settings& TheSettings() {
  static const Settings settings = [] {
    Settings read = MakeSettings(
        std::getenv("VRAMSCOPE_SIMULATED_GPU"), std::getenv("VRAMSCOPE_SIMULATED_CAPACITY"),
        std::getenv("VRAMSCOPE_SIMULATED_CONTEXT"), std::getenv("VRAMSCOPE_SIMULATED_COPY_LIMIT"),
        std::getenv("VRAMSCOPE_SIMULATED_LAG"), std::getenv("VRAMSCOPE_SIMULATED_LEDGER"));
    read.journal = std::getenv("VRAMSCOPE_SIMULATED_JOURNAL");
    read.shared = SharedFile();
    read.module = BytesOr(std::getenv("VRAMSCOPE_SIMULATED_MODULE"), 0);
    const char* const nccl = std::getenv("VRAMSCOPE_SIMULATED_NCCL");
    read.nccl_measured = BytesOr(nccl, UINT64_MAX) != UINT64_MAX;
    read.nccl = BytesOr(nccl, 0);
    const char* const late = std::getenv("VRAMSCOPE_SIMULATED_LATE");
    read.late = late != nullptr && std::strcmp(late, "1") == 0;
    const char* const kernels = std::getenv("VRAMSCOPE_SIMULATED_KERNELS");
    read.count_kernels = kernels == nullptr || std::strcmp(kernels, "0") != 0;
    ChooseVisible(std::getenv("CUDA_VISIBLE_DEVICES"), read);
    return read;
  }();
  return settings;
}

}  // namespace vramscope::simulated
