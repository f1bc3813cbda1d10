// SPDX-License-Identifier: Apache-2.0
// The comparison of all ranks of a job: the answer of `vramscope fleet`.
//
//   files ──Summarize──► RankSummary, one each ──Compare──► Job: peers, outliers, clocks, who runs out first
//                                                            └──Explainer──► causes, from the traces of the
//                                                                            outliers and of one typical rank
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

// Ranks that should use equal amounts of memory. Peers have the same stage, if stages are recorded, or else
// the same parameters.
struct PeerGroup {
  std::string stage;            // "pp 2, ep 0"; "" = not grouped by stage
  std::vector<size_t> members;  // into Job::ranks
  Spread allocated;
  Spread reserved;
  Spread used;
  size_t typical = 0;  // the member closest to the median peak
};

struct Finding {
  enum class Kind : uint8_t {
    kOutOfMemory,
    kDead,           // killed, failed, or its recording was cut off
    kMemory,         // peak stands out among its peers
    kImbalance,      // ranks of one stage or expert group use more than others
    kFragmentation,  // reserved memory stands out, allocated memory does not
    kOutside,        // memory outside PyTorch stands out
    kElsewhere,      // memory on another rank's device
    kGrowth,         // leaks more than its peers; if all leak, also the typical rank
    kLate,
    kMissing,  // no file of this rank
  } kind{};
  std::vector<size_t> ranks;  // into Job::ranks; empty for kMissing
  std::string text;           // one sentence or two
  int64_t bytes = 0;          // difference from its peers; per step for kGrowth; 0 = not about bytes
  uint32_t since_step = 0;    // first step that differs; 0 = from the start, or unknown
  std::string category;       // key; "" = unknown
  std::string module;
  std::string line;
  std::string cause;  // diff::Cause::what: "Input of a step 1.80 times as large"
};
[[nodiscard]] const char* FindingKey(Finding::Kind kind);

// The rank that will run out of memory first at its present growth.
struct FirstOut {
  size_t rank = 0;
  uint64_t steps_left = 0;
  std::optional<uint64_t> time_left_ns;
};

struct Job {
  std::vector<RankSummary> ranks;  // in order of rank numbers
  std::vector<PeerGroup> groups;   // most members first
  std::vector<size_t> group_of;    // by rank: index into groups
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
  std::string category;  // key; here and below, "" = unknown
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

// Returns the explanations in the order of the questions. nullopt: a run cannot be read.
using Explainer = std::function<std::vector<std::optional<Explanation>>(const std::vector<Question>&)>;

// Opens the run that a summary describes, for the summary's device and process.
using OpenSide = std::function<Result<diff::Side>(const RankSummary&)>;

// Answers the questions in this process, one after the other.
[[nodiscard]] Explainer ExplainHere(OpenSide open);
[[nodiscard]] Explanation Explain(const diff::Side& typical, const diff::Side& outlier, bool more);

// Compares the ranks. Without `explain`, findings have no causes. At most `explained` findings are explained,
// largest difference first.
[[nodiscard]] Job Compare(std::vector<RankSummary> ranks, const Explainer& explain = {},
                          size_t explained = 8);

// One JSON document (docs/json.md).
[[nodiscard]] std::string ToJson(const Job& job);
// For an HTML page: with the heat map, and without the steps of each rank.
[[nodiscard]] std::string PageJson(const Job& job);

}  // namespace vramscope::fleet
