// SPDX-License-Identifier: Apache-2.0
// Trains the C++ sample and writes LibTorch's account of its memory, in the format of oracle.py. No Python
// anywhere.
//
//   oracle_gpt POINTS STEPS [--steps 6 --batch 4 ...]        STEPS: "1,3,6"; the rest is as for sample_gpt
//
// With --device cuda the storages on the GPU count, each with the bytes of its block. All tensors of this
// small model come from the small pool, which rounds up to 512.
//
// Five points of each step: batch, forward, the middle of backward (a hook on a parameter), backward,
// optimizer step.
#include <time.h>
#include <torch/csrc/autograd/functions/accumulate_grad.h>
#include <torch/csrc/autograd/generated/Functions.h>

#include <map>
#include <set>
#include <sstream>

#include "gpt.h"

namespace {

using torch::autograd::Node;
using torch::autograd::SavedVariable;

struct Storage {
  uint64_t address = 0;
  uint64_t bytes = 0;
  friend bool operator<(const Storage& a, const Storage& b) {
    return std::tie(a.address, a.bytes) < std::tie(b.address, b.bytes);
  }
};
using Storages = std::set<Storage>;
using Names = std::map<Storage, std::set<std::string>>;

torch::Device watched = torch::kCPU;
constexpr uint64_t kCudaRounding = 512;

Storage StorageOf(const torch::Tensor& tensor) {
  if (!tensor.defined() || !tensor.has_storage() || tensor.device().type() != watched.type()) return {};
  uint64_t bytes = tensor.storage().nbytes();
  if (watched.is_cuda()) bytes = (bytes + kCudaRounding - 1) / kCudaRounding * kCudaRounding;
  return {reinterpret_cast<uint64_t>(tensor.storage().data()), bytes};
}

void Add(Names& names, const torch::Tensor& tensor, const std::string& name) {
  if (const Storage storage = StorageOf(tensor); storage.bytes != 0) names[storage].insert(name);
}

// What the graph under a loss holds.
struct Graph {
  Storages saved;
  Storages batch;  // the token numbers that embeddings look up
  std::vector<torch::Tensor> leaves;
  std::set<std::string> unknown;  // nodes whose saved tensors this file cannot name

  void Save(const SavedVariable& variable, Node& node) {
    try {
      const torch::Tensor tensor = variable.unpack(node.getptr());
      const Storage storage = StorageOf(tensor);
      if (storage.bytes == 0) return;
      saved.insert(storage);
      if (node.name() == "EmbeddingBackward0") batch.insert(storage);
    } catch (const c10::Error&) {
      // Released: backward has passed this node.
    }
  }
};

template <class Type>
bool Read(Node& node, Graph& graph, std::initializer_list<SavedVariable Type::*> members) {
  auto* typed = dynamic_cast<Type*>(&node);
  if (typed == nullptr) return false;
  for (const auto member : members) graph.Save(typed->*member, node);
  return true;
}

bool ReadCheckpoint(Node& node, Graph& graph) {
  auto* const checkpoint = dynamic_cast<torch::autograd::CppNode<sample::Checkpoint>*>(&node);
  if (checkpoint == nullptr) return false;
  try {
    for (const torch::Tensor& tensor : checkpoint->ctx_.get_saved_variables())
      graph.saved.insert(StorageOf(tensor));
  } catch (const c10::Error&) {
    // Released: backward has passed this node.
  }
  return true;
}

// For bf16 on CUDA; up to 2.2 also on the CPU. The state of the random numbers has another name since 2.7.
template <class Flash = torch::autograd::generated::ScaledDotProductFlashAttentionBackward0>
bool ReadFlashAttention(Node& node, Graph& graph) {
  const auto read = [&](SavedVariable Flash::*random, SavedVariable Flash::*more_random) {
    return Read<Flash>(node, graph,
                       {&Flash::query_, &Flash::key_, &Flash::value_, &Flash::output_, &Flash::logsumexp_,
                        &Flash::cum_seq_k_, &Flash::cum_seq_q_, random, more_random});
  };
  if constexpr (requires(Flash & flash) { flash.rng_state_; }) {
    return read(&Flash::rng_state_, &Flash::unused_);
  } else {
    return read(&Flash::philox_seed_, &Flash::philox_offset_);
  }
}

bool ReadCpuAttention([[maybe_unused]] Node& node, [[maybe_unused]] Graph& graph) {
#if TORCH_VERSION_MAJOR * 100 + TORCH_VERSION_MINOR >= 203
  using Attention = torch::autograd::generated::ScaledDotProductFlashAttentionForCpuBackward0;
  return Read<Attention>(node, graph,
                         {&Attention::query_, &Attention::key_, &Attention::value_, &Attention::attn_mask_,
                          &Attention::output_, &Attention::logsumexp_});
#else
  return false;
#endif
}

// Every node type with saved tensors that this model has; C++ offers no list of them as Python does.
bool ReadSaved(Node& node, Graph& graph) {
  using namespace torch::autograd::generated;
  using CudaAttention = ScaledDotProductEfficientAttentionBackward0;
  return ReadCheckpoint(node, graph) ||
         Read<AddmmBackward0>(node, graph, {&AddmmBackward0::mat1_, &AddmmBackward0::mat2_}) ||
         Read<MmBackward0>(node, graph, {&MmBackward0::self_, &MmBackward0::mat2_}) ||
         Read<EmbeddingBackward0>(node, graph, {&EmbeddingBackward0::indices_}) ||
         Read<GeluBackward0>(node, graph, {&GeluBackward0::self_}) ||
         Read<LogSoftmaxBackward0>(node, graph, {&LogSoftmaxBackward0::result_}) ||
         Read<DivBackward0>(node, graph, {&DivBackward0::self_, &DivBackward0::other_}) ||
         Read<NllLossBackward0>(node, graph,
                                {&NllLossBackward0::self_, &NllLossBackward0::target_,
                                 &NllLossBackward0::weight_, &NllLossBackward0::total_weight_}) ||
         Read<NativeLayerNormBackward0>(
             node, graph,
             {&NativeLayerNormBackward0::input_, &NativeLayerNormBackward0::weight_,
              &NativeLayerNormBackward0::bias_, &NativeLayerNormBackward0::result1_,
              &NativeLayerNormBackward0::result2_}) ||
         ReadCpuAttention(node, graph) || ReadFlashAttention(node, graph) ||
         Read<CudaAttention>(
             node, graph,
             {&CudaAttention::query_, &CudaAttention::key_, &CudaAttention::value_,
              &CudaAttention::attn_bias_, &CudaAttention::output_, &CudaAttention::log_sumexp_,
              &CudaAttention::philox_seed_, &CudaAttention::philox_offset_});
}

bool SavesNothing(const std::string& name) {
  static const std::set<std::string> kNames = {
      "AddBackward0",       "ViewBackward0",         "PermuteBackward0", "UnbindBackward0",
      "TransposeBackward0", "UnsafeViewBackward0",   "CloneBackward0",   "TBackward0",
      "SliceBackward0",     "ReshapeAliasBackward0", "SelectBackward0",  "ExpandBackward0",
      "ToCopyBackward0"};
  return kNames.count(name) != 0;
}

// Walks the graph from the loss, and from outputs that checkpoints run backward through at this moment.
Graph Walk(const torch::Tensor& loss) {
  Graph graph;
  std::set<Node*> seen;
  std::vector<Node*> waiting = {loss.defined() ? loss.grad_fn().get() : nullptr};
  for (const torch::Tensor& result : sample::Recomputed()) waiting.push_back(result.grad_fn().get());
  while (!waiting.empty()) {
    Node* const node = waiting.back();
    waiting.pop_back();
    if (node == nullptr || !seen.insert(node).second) continue;
    if (auto* leaf = dynamic_cast<torch::autograd::AccumulateGrad*>(node)) {
      graph.leaves.push_back(leaf->variable);
    } else if (!ReadSaved(*node, graph) && !SavesNothing(node->name())) {
      graph.unknown.insert(node->name());
    }
    for (const auto& edge : node->next_edges()) waiting.push_back(edge.function.get());
  }
  return graph;
}

template <class State>
void AddMoments(Names& names, const torch::optim::OptimizerParamState& state, const std::string& parameter) {
  if (const auto* moments = dynamic_cast<const State*>(&state)) {
    Add(names, moments->exp_avg(), "exp_avg of " + parameter);
    Add(names, moments->exp_avg_sq(), "exp_avg_sq of " + parameter);
  }
}

// "" is a correct name too: LibTorch's optimizers do not show the names of their state tensors.
Names OptimizerState(const sample::Moment& moment) {
  Names names;
  for (const auto& item : moment.model->named_parameters()) {
    const auto& states = moment.optimizer.state();
    const auto found = states.find(item.value().unsafeGetTensorImpl());
    if (found == states.end()) continue;
    AddMoments<torch::optim::AdamParamState>(names, *found->second, item.key());
    AddMoments<torch::optim::AdamWParamState>(names, *found->second, item.key());
    if (const auto* sgd = dynamic_cast<const torch::optim::SGDParamState*>(found->second.get()))
      Add(names, sgd->momentum_buffer(), "momentum_buffer of " + item.key());
  }
  for (auto& [storage, found] : names) found.insert("");
  return names;
}

std::string Json(const Names& names) {
  std::ostringstream out;
  for (const auto& [storage, found] : names) {
    out << (out.tellp() == 0 ? "" : ", ") << '[' << storage.address << ", " << storage.bytes << ", [";
    for (const std::string& name : found) out << (name == *found.begin() ? "\"" : ", \"") << name << '"';
    out << "]]";
  }
  return '[' + out.str() + ']';
}

std::string Json(const Storages& storages) {
  std::ostringstream out;
  for (const Storage& storage : storages)
    out << (out.tellp() == 0 ? "" : ", ") << '[' << storage.address << ", " << storage.bytes << ']';
  return '[' + out.str() + ']';
}

uint64_t Now() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

class Points {
 public:
  Points(std::FILE* file, std::set<int64_t> steps) : file_(file), steps_(std::move(steps)) {}

  void Take(const sample::Moment& moment, const char* kind) {
    if (steps_.count(moment.step) == 0) return;
    const uint64_t before = Now();
    Names parameters, buffers, gradients;
    for (const auto& item : moment.model->named_parameters()) {
      Add(parameters, item.value(), item.key());
      Add(gradients, item.value().grad(), item.key());
    }
    for (const auto& item : moment.model->named_buffers()) Add(buffers, item.value(), item.key());
    const Names state = OptimizerState(moment);
    const Graph graph = Walk(moment.loss);
    for (const std::string& name : graph.unknown)
      throw std::runtime_error("the oracle does not know " + name);
    Storages visible = graph.saved;
    for (const Names& names : {parameters, buffers, gradients, state})
      for (const auto& [storage, name] : names) visible.insert(storage);

    std::fprintf(file_,
                 "{\"device\": \"%s\", \"step\": %lld, \"kind\": \"%s\", \"in_optimizer\": false, "
                 "\"before_ns\": %llu, "
                 "\"after_ns\": %llu, \"parameter\": %s, "
                 "\"buffer\": %s, \"gradient\": %s, \"optimizer_state\": %s, \"saved\": %s, \"input\": %s, "
                 "\"given\": [], \"visible\": %s}\n",
                 watched.is_cpu() ? "cpu" : "cuda:0", static_cast<long long>(moment.step), kind,
                 static_cast<unsigned long long>(before), static_cast<unsigned long long>(Now()),
                 Json(parameters).c_str(), Json(buffers).c_str(), Json(gradients).c_str(),
                 Json(state).c_str(), Json(graph.saved).c_str(), Json(graph.batch).c_str(),
                 Json(visible).c_str());
  }

  void Observe(const sample::Moment& moment) {
    const std::string point = moment.point;
    if (point == "batch") Take(moment, "batch_ready");
    if (point == "forward") {
      Take(moment, "forward_done");
      HookInTheMiddle(moment);
    }
    if (point == "backward") {
      middle_.remove_hook(hook_);
      Take(moment, "backward_done");
    }
    if (point == "step") Take(moment, "optimizer_done");
  }

 private:
  // A hook on the first parameter of the middle block: its gradient comes when half of backward is done.
  void HookInTheMiddle(const sample::Moment& moment) {
    const auto& blocks = *moment.model->blocks;
    middle_ = blocks[blocks.size() / 2]->parameters().front();
    hook_ = middle_.register_hook([this, moment](const torch::Tensor&) { Take(moment, "backward_middle"); });
  }

  std::FILE* file_;
  std::set<int64_t> steps_;
  torch::Tensor middle_;
  unsigned hook_ = 0;
};

std::set<int64_t> Steps(const std::string& list) {
  std::set<int64_t> steps;
  std::istringstream in(list);
  for (std::string step; std::getline(in, step, ',');) steps.insert(std::stoll(step));
  return steps;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  sample::Options options;
  if (!sample::Parse({argv + 3, argv + argc}, options)) return 2;
  watched = options.device;
  torch::manual_seed(1);
  sample::Gpt model(options.layers, options.dim);
  model->to(options.device);
  const auto optimizer = sample::MakeOptimizer(model, options);
  std::FILE* const file = std::fopen(argv[1], "w");
  Points points(file, Steps(argv[2]));
  sample::Train(model, *optimizer, options, [&](const sample::Moment& moment) { points.Observe(moment); });
  std::fclose(file);
  return 0;
}
