// SPDX-License-Identifier: Apache-2.0
// A small GPT in LibTorch: the model, the made-up language that it learns, and the training loop of gpt.cpp.
// The model and the language are the same as in gpt.py; the random numbers differ.
//
// To observe a run, include this header and pass an observer to Train. Train calls the observer after each of
// these parts of a step:
//
//   batch ─► forward ─► backward  (repeated `accumulate` times) ─► step ─► zero_grad
#pragma once

#include <ATen/autocast_mode.h>
#include <torch/torch.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace sample {

inline constexpr int64_t kVocabulary = 97;
inline constexpr int64_t kContext = 64;
inline constexpr int64_t kHeadDim = 32;

struct Options {
  torch::Device device = torch::kCPU;
  int64_t batch = 8;
  int64_t layers = 4;
  int64_t dim = 128;
  int64_t steps = 30;
  int64_t seed = 1;
  int64_t accumulate = 1;
  bool amp_bf16 = false;
  bool checkpoint = false;
  std::string optimizer = "adamw";
  double learning_rate = 2e-3;
};

inline constexpr const char* kUsage =
    "usage: sample_gpt [--device cpu|cuda] [--batch N] [--layers N] [--dim N] [--steps N] [--seed N]\n"
    "                  [--accumulate N] [--amp none|bf16] [--checkpoint]\n"
    "                  [--optimizer sgd|momentum|adam|adamw] [--lr RATE]\n";

// Reads `arguments` into `options`. False for an unknown argument, or a missing or invalid value.
inline bool Parse(const std::vector<std::string>& arguments, Options& options) {
  const std::map<std::string, int64_t*> numbers = {
      {"--batch", &options.batch}, {"--layers", &options.layers}, {"--dim", &options.dim},
      {"--steps", &options.steps}, {"--seed", &options.seed},     {"--accumulate", &options.accumulate}};
  for (size_t index = 0; index < arguments.size(); ++index) {
    const std::string& name = arguments[index];
    if (name == "--checkpoint") {
      options.checkpoint = true;
      continue;
    }
    if (++index == arguments.size()) return false;
    const std::string& value = arguments[index];
    if (const auto number = numbers.find(name); number != numbers.end()) {
      *number->second = std::atoll(value.c_str());
      if (*number->second < 1) return false;
    } else if (name == "--device") {
      options.device = torch::Device(value);
    } else if (name == "--amp" && (value == "none" || value == "bf16")) {
      options.amp_bf16 = value == "bf16";
    } else if (name == "--optimizer") {
      options.optimizer = value;
    } else if (name == "--lr") {
      options.learning_rate = std::atof(value.c_str());
    } else {
      return false;
    }
  }
  return true;
}

// Equals Python's `with torch.autocast(device, dtype=torch.bfloat16)` while the object exists. For CUDA, the
// dtype must be set; on the CPU, bfloat16 is the default.
class Autocast {
 public:
  Autocast(bool wanted, torch::DeviceType device) : wanted_(wanted), device_(device) {
    if (!wanted_) return;
#if TORCH_VERSION_MAJOR * 100 + TORCH_VERSION_MINOR >= 204
    at::autocast::set_autocast_dtype(device_, torch::kBFloat16);
#else
    at::autocast::set_autocast_cpu_dtype(torch::kBFloat16);
    at::autocast::set_autocast_gpu_dtype(torch::kBFloat16);
#endif
    Enable(true);
  }
  ~Autocast() {
    if (!wanted_) return;
    Enable(false);
    at::autocast::clear_cache();  // the weights in bf16
  }
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  void Enable(bool on) const {
#if TORCH_VERSION_MAJOR * 100 + TORCH_VERSION_MINOR >= 204
    at::autocast::set_autocast_enabled(device_, on);
#else
    device_ == torch::kCUDA ? at::autocast::set_enabled(on) : at::autocast::set_cpu_enabled(on);
#endif
  }

  bool wanted_;
  torch::DeviceType device_;
};

struct AttentionImpl : torch::nn::Module {
  explicit AttentionImpl(int64_t dim)
      : heads(std::max<int64_t>(1, dim / kHeadDim)),
        qkv(register_module("qkv", torch::nn::Linear(dim, 3 * dim))),
        out(register_module("out", torch::nn::Linear(dim, dim))) {}

  torch::Tensor forward(const torch::Tensor& x) {
    const int64_t batch = x.size(0), length = x.size(1), dim = x.size(2);
    const auto parts = qkv(x).view({batch, length, 3, heads, dim / heads}).permute({2, 0, 3, 1, 4}).unbind(0);
    const torch::Tensor y =
        torch::scaled_dot_product_attention(parts[0], parts[1], parts[2], /*attn_mask=*/{},
                                            /*dropout_p=*/0.0, /*is_causal=*/true);
    return out(y.transpose(1, 2).reshape({batch, length, dim}));
  }

  int64_t heads;
  torch::nn::Linear qkv, out;
};
TORCH_MODULE(Attention);

struct BlockImpl : torch::nn::Module {
  explicit BlockImpl(int64_t dim)
      : attention_norm(
            register_module("attention_norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions({dim})))),
        attention(register_module("attention", Attention(dim))),
        mlp_norm(register_module("mlp_norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions({dim})))),
        mlp(register_module("mlp", torch::nn::Sequential(torch::nn::Linear(dim, 4 * dim), torch::nn::GELU(),
                                                         torch::nn::Linear(4 * dim, dim)))) {}

  torch::Tensor forward(torch::Tensor x) {
    x = x + attention(attention_norm(x));
    return x + mlp->forward(mlp_norm(x));
  }

  torch::nn::LayerNorm attention_norm;
  Attention attention;
  torch::nn::LayerNorm mlp_norm;
  torch::nn::Sequential mlp;
};
TORCH_MODULE(Block);

// The outputs that checkpoints have recomputed and whose backward pass is running. An observer may read them.
inline std::vector<torch::Tensor>& Recomputed() {
  static thread_local std::vector<torch::Tensor> results;
  return results;
}

// Runs a block and keeps only its input; backward recomputes the rest.
struct Checkpoint : torch::autograd::Function<Checkpoint> {
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& x,
                               BlockImpl* block, const Options* options) {
    context->save_for_backward({x});
    context->saved_data["block"] = reinterpret_cast<int64_t>(block);
    context->saved_data["options"] = reinterpret_cast<int64_t>(options);
    return block->forward(x);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    auto* const block = reinterpret_cast<BlockImpl*>(context->saved_data["block"].toInt());
    const auto* const options = reinterpret_cast<const Options*>(context->saved_data["options"].toInt());
    const torch::Tensor x = context->get_saved_variables()[0].detach().requires_grad_(true);
    torch::Tensor result;
    {
      const torch::AutoGradMode with_gradients(true);
      const Autocast autocast(options->amp_bf16, options->device.type());
      result = block->forward(x);
    }
    Recomputed().push_back(result);
    torch::autograd::backward({result}, gradients);
    Recomputed().pop_back();
    return {x.grad(), {}, {}};
  }
};

struct GptImpl : torch::nn::Module {
  GptImpl(int64_t layers, int64_t dim)
      : tokens(register_module("tokens", torch::nn::Embedding(kVocabulary, dim))),
        positions(register_module("positions", torch::nn::Embedding(kContext, dim))),
        position_ids(register_buffer("position_ids", torch::arange(kContext))),
        norm(register_module("norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions({dim})))) {
    blocks = register_module("blocks", torch::nn::ModuleList());
    for (int64_t layer = 0; layer < layers; ++layer) blocks->push_back(Block(dim));
    torch::nn::init::normal_(tokens->weight, 0, 0.02);
    torch::nn::init::normal_(positions->weight, 0, 0.02);
  }

  // Logits [batch, length, kVocabulary]; the output projection is the token embedding, as in GPT-2.
  torch::Tensor forward(const torch::Tensor& text, const Options& options) {
    torch::Tensor x = tokens(text) + positions(position_ids.slice(0, 0, text.size(1)));
    for (const auto& each : *blocks) {
      auto* const block = each->as<BlockImpl>();
      x = options.checkpoint ? Checkpoint::apply(x, block, &options) : block->forward(x);
    }
    return torch::linear(norm(x), tokens->weight);
  }

  torch::nn::Embedding tokens, positions;
  torch::Tensor position_ids;
  torch::nn::ModuleList blocks;
  torch::nn::LayerNorm norm;
};
TORCH_MODULE(Gpt);

// Returns `count` random texts: int64 [count, kContext + 1]. Each token of the vocabulary has three possible
// next tokens.
inline torch::Tensor Sentences(int64_t count) {
  const torch::Tensor followers = (torch::rand({kVocabulary, 3}).pow(3) * kVocabulary).to(torch::kLong);
  torch::Tensor text = torch::empty({count, kContext + 1}, torch::kLong);
  text.select(1, 0).copy_(torch::randint(kVocabulary, {count}));
  for (int64_t position = 0; position < kContext; ++position) {
    text.select(1, position + 1)
        .copy_(followers.index({text.select(1, position), torch::randint(3, {count})}));
  }
  return text;
}

// Returns nullptr if there is no optimizer with the name options.optimizer.
inline std::unique_ptr<torch::optim::Optimizer> MakeOptimizer(const Gpt& model, const Options& options) {
  using namespace torch::optim;
  const double rate = options.learning_rate;
  if (options.optimizer == "sgd") return std::make_unique<SGD>(model->parameters(), SGDOptions(rate));
  if (options.optimizer == "momentum")
    return std::make_unique<SGD>(model->parameters(), SGDOptions(rate).momentum(0.9));
  if (options.optimizer == "adam") return std::make_unique<Adam>(model->parameters(), AdamOptions(rate));
  if (options.optimizer == "adamw") return std::make_unique<AdamW>(model->parameters(), AdamWOptions(rate));
  return nullptr;
}

struct Moment {
  const char* point;  // "batch", "forward", "backward", "step", "zero_grad"
  int64_t step;       // from 1
  const Gpt& model;
  torch::optim::Optimizer& optimizer;
  const torch::Tensor& loss;  // undefined at "batch"
};
using Observer = std::function<void(const Moment&)>;

// Returns the mean loss of each step.
inline std::vector<double> Train(
    Gpt& model, torch::optim::Optimizer& optimizer, const Options& options,
    const Observer& observe = [](const Moment&) {}) {
  const torch::Tensor text = Sentences(512);
  std::vector<double> history;
  for (int64_t step = 1; step <= options.steps; ++step) {
    double mean_loss = 0;
    torch::Tensor loss;
    const auto at = [&](const char* point) { observe({point, step, model, optimizer, loss}); };
    for (int64_t part = 0; part < options.accumulate; ++part) {
      const torch::Tensor batch =
          text.index_select(0, torch::randint(text.size(0), {options.batch})).to(options.device);
      loss = torch::Tensor();
      at("batch");
      {
        const Autocast autocast(options.amp_bf16, options.device.type());
        const torch::Tensor logits = model->forward(batch.slice(1, 0, kContext), options);
        loss = torch::nn::functional::cross_entropy(logits.reshape({-1, kVocabulary}),
                                                    batch.slice(1, 1).reshape(-1));
      }
      at("forward");
      (loss / options.accumulate).backward();
      at("backward");
      mean_loss += loss.item<double>() / static_cast<double>(options.accumulate);
    }
    optimizer.step();
    at("step");
    optimizer.zero_grad();
    at("zero_grad");
    std::printf("step %4lld  loss %.4f\n", static_cast<long long>(step), mean_loss);
    history.push_back(mean_loss);
  }
  return history;
}

}  // namespace sample
