// SPDX-License-Identifier: Apache-2.0
// Compares the memory of all ranks of a job, for `vramscope fleet`.
//
//   files ──Summarize──► RankSummary of each ──Compare──► Job: peers, outliers, clocks, first to run out
//                                                          └──Explainer──► causes, from the traces of the
//                                                                          outliers and of one typical rank
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "profiler/diff/compare.h"
#include "profiler/fleet/clocks.h"
#include "profiler/fleet/rank_summary.h"
#include "profiler/fleet/spread.h"
#include "trace_format/result.h"

namespace vramscope::fleet {

// A group of peers: ranks that should use equal amounts of memory. If pipeline stages are recorded, peers
// have the same stage. Otherwise, peers have the same parameters.
struct PeerGroup {
  std::string stage;            // "pp 2, ep 0"; "" = not grouped by stage
  std::vector<size_t> members;  // indices into Job::ranks
  Spread allocated;
  Spread reserved;
  Spread used;
  size_t typical = 0;  // index into Job::ranks of the member closest to the median peak
};

struct Finding {
  enum class Kind : uint8_t {
    kOutOfMemory,
    kDead,           // killed, failed, or its recording was cut off
    kMemory,         // peak is unusual among the peers
    kImbalance,      // ranks of one stage or expert group use more than others
    kFragmentation,  // reserved memory is unusual, allocated memory is not
    kOutside,        // memory outside PyTorch is unusual
    kElsewhere,      // memory on another rank's device
    kGrowth,         // leaks more than its peers; if all peers leak, the typical rank
    kLate,
    kMissing,  // rank without a file
  } kind{};
  std::vector<size_t> ranks;  // indices into Job::ranks; empty for kMissing
  std::string text;           // one sentence or two
  int64_t bytes = 0;          // difference from the peers; for kGrowth, per step; 0 = no byte figure
  uint32_t since_step = 0;    // first step that differs; 0 = from the start, or unknown
  std::string category;       // category key; "" = unknown
  std::string module;
  std::string line;
  std::string cause;  // diff::Cause::what: "Input of a step 1.80 times as large"
};
[[nodiscard]] const char* FindingKey(Finding::Kind kind);

// The rank that will run out of memory first if memory continues to grow as now.
struct FirstOut {
  size_t rank = 0;
  uint64_t steps_left = 0;
  std::optional<uint64_t> time_left_ns;
};

struct Job {
  std::vector<RankSummary> ranks;  // in order of rank numbers
  std::vector<PeerGroup> groups;   // most members first
  std::vector<size_t> group_of;    // for each rank: index into groups
  Clocks clocks;
  std::vector<Finding> findings;  // most urgent first
  std::optional<FirstOut> first_out;
  std::vector<uint32_t> missing;  // rank numbers without a file
  std::vector<std::string> notes;
  bool several_hosts = false;

  [[nodiscard]] std::string NameOf(size_t rank) const { return ranks[rank].Name(several_hosts); }
};

// Why a rank uses more, or less, memory than its typical peer.
struct Explanation {
  std::string category;  // category key; in all fields "" = unknown
  std::string module;
  std::string line;
  std::string cause;  // diff::Cause::what
  std::string text;   // "activations +204.8 MiB in layers.*.attn, forward (model.py:88)"
};

struct Question {
  const RankSummary* typical = nullptr;
  const RankSummary* outlier = nullptr;
  bool more = false;  // true if the outlier uses more memory
};

// Returns one explanation per question, in the same order. nullopt if a run cannot be read.
using Explainer = std::function<std::vector<std::optional<Explanation>>(const std::vector<Question>&)>;

// Opens the run that a summary describes, for the summary's device and process.
using OpenSide = std::function<Result<diff::Side>(const RankSummary&)>;

// Answers the questions in this process, one after the other.
[[nodiscard]] Explainer ExplainHere(OpenSide open);
[[nodiscard]] Explanation Explain(const diff::Side& typical, const diff::Side& outlier, bool more);

// Compares the ranks. Without `explain`, findings have no causes. `explain` is called for at most `explained`
// findings, those with the largest differences.
[[nodiscard]] Job Compare(std::vector<RankSummary> ranks, const Explainer& explain = {},
                          size_t explained = 8);

// Returns one JSON document (docs/json.md).
[[nodiscard]] std::string ToJson(const Job& job);
// Returns JSON for an HTML page. It contains the heat map and omits the steps of each rank.
[[nodiscard]] std::string PageJson(const Job& job);

}  // namespace vramscope::fleet
