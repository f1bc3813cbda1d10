// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/device_ledger.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

namespace vramscope::cli {
namespace {

using Json = nlohmann::json;

uint64_t Number(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_unsigned() ? found->get<uint64_t>() : 0;
}

std::string Text(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// The elements of an array; nothing when the key is no array.
Json List(const Json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found != object.end() && found->is_array() ? *found : Json::array();
}

DeviceLedger FromJson(const Json& device) {
  DeviceLedger ledger{
      Number(device, "capacity_bytes"), Number(device, "peak_bytes"), Number(device, "missing_bytes"), {}};
  for (const Json& row : List(device, "rows")) {
    if (row.is_object())
      ledger.entries.push_back({Text(row, "library"), Text(row, "call"), Number(row, "peak_bytes")});
  }
  return ledger;
}

}  // namespace

DeviceLedger FullestDevice(const std::string& folder) {
  DeviceLedger fullest;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    if (entry.path().extension() != ".json") continue;
    std::ifstream file(entry.path());
    const Json document = Json::parse(file, nullptr, /*allow_exceptions=*/false);
    for (const Json& device : List(document, "devices")) {
      if (!device.is_object()) continue;
      DeviceLedger ledger = FromJson(device);
      if (ledger.peak_bytes >= fullest.peak_bytes) fullest = std::move(ledger);
    }
  }
  return fullest;
}

}  // namespace vramscope::cli
