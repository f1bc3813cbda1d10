// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/target/launch_facts.h"

#include <fmt/format.h>
#include <unistd.h>

#include <climits>
#include <sstream>
#include <string_view>

#include "profiler/collector/output/whole_file.h"

namespace vramscope::collector {
namespace {

using Variables = std::map<std::string, std::string, std::less<>>;

constexpr size_t kLongestValue = 256;

constexpr std::array kLaunchVariables = {
    // torchrun; LOCAL_RANK and WORLD_SIZE also of accelerate, DeepSpeed and Lightning
    "RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_RANK", "GROUP_WORLD_SIZE", "ROLE_RANK",
    "ROLE_NAME", "NODE_RANK", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT",
    "TORCHELASTIC_MAX_RESTARTS",
    // Slurm
    "SLURM_JOB_ID", "SLURM_JOB_NAME", "SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID", "SLURM_STEP_ID",
    "SLURM_PROCID", "SLURM_LOCALID", "SLURM_NODEID", "SLURM_NTASKS", "SLURM_NNODES", "SLURMD_NODENAME",
    // Open MPI, MPICH and other users of PMI
    "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
    "OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_NODE_RANK", "PMIX_RANK", "PMI_RANK", "PMI_SIZE",
    "MPI_LOCALRANKID", "MPI_LOCALNRANKS",
    // Kubernetes: an indexed job, and what pods usually take from the downward API
    "JOB_COMPLETION_INDEX", "POD_NAME", "POD_NAMESPACE", "NODE_NAME",
    // other batch systems
    "PBS_JOBID", "LSB_JOBID", "JOB_ID",
    // which of the host's GPUs the process sees
    "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"};
// Read for "host" and "pod", and not recorded.
constexpr std::array kHostVariables = {"HOSTNAME", "KUBERNETES_SERVICE_HOST"};

bool IsNumber(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

template <size_t N>
bool IsOneOf(std::string_view name, const std::array<const char*, N>& names) {
  for (const char* const one : names)
    if (name == one) return true;
  return false;
}

Variables VariablesOf(uint32_t pid) {
  Variables found;
  std::istringstream environment(ReadWhole(fmt::format("/proc/{}/environ", pid)));
  for (std::string variable; std::getline(environment, variable, '\0');) {
    const size_t equals = variable.find('=');
    if (equals == std::string::npos || equals + 1 == variable.size()) continue;
    const std::string name = variable.substr(0, equals);
    if (IsOneOf(name, kLaunchVariables) || IsOneOf(name, kHostVariables))
      found.try_emplace(name, variable.substr(equals + 1, kLongestValue));
  }
  return found;
}

std::string ValueOr(const Variables& variables, std::string_view name, std::string otherwise) {
  const auto found = variables.find(name);
  return found == variables.end() ? std::move(otherwise) : found->second;
}

std::string NamespaceOf(const std::string& process) {
  std::array<char, 64> name{};
  const ssize_t length =
      readlink(fmt::format("/proc/{}/ns/uts", process).c_str(), name.data(), name.size() - 1);
  return length > 0 ? std::string(name.data(), static_cast<size_t>(length)) : "";
}

// A process in a container has its own host name. From outside, only its variable HOSTNAME shows it.
std::string HostOf(uint32_t pid, const Variables& variables) {
  const std::string there = NamespaceOf(std::to_string(pid));
  if (!there.empty() && there != NamespaceOf("self")) return ValueOr(variables, "HOSTNAME", "");
  std::array<char, HOST_NAME_MAX + 1> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::string PodOf(const Variables& variables) {
  const bool in_pod = variables.contains("KUBERNETES_SERVICE_HOST");
  return ValueOr(variables, "POD_NAME", in_pod ? ValueOr(variables, "HOSTNAME", "") : "");
}

}  // namespace

std::map<std::string, std::string> LaunchFactsOf(uint32_t pid, bool redact) {
  const Variables variables = VariablesOf(pid);
  std::map<std::string, std::string> facts;
  for (const char* const launcher : kRankVariables) {
    const std::string value = ValueOr(variables, launcher, "");
    if (IsNumber(value)) facts.try_emplace("rank", value);
  }
  facts["host"] = HostOf(pid, variables);
  facts["pod"] = PodOf(variables);
  for (const auto& [name, value] : variables)
    if (IsOneOf(name, kLaunchVariables)) facts["env." + name] = value;
  std::erase_if(facts,
                [&](const auto& fact) { return fact.second.empty() || (redact && !IsNumber(fact.second)); });
  return facts;
}

}  // namespace vramscope::collector
