// Speed of the CPU kernels that are matrix products, at the shapes of BERT base and tiny: GFLOP/s
// of useful work (multiply-add = 2) and the percentage of the f32 multiply-adds that registers
// allow, measured in the same minute. bf16 units may exceed 100.
//
//   product_bench [FILTER] [ROUNDS]      lines whose name contains FILTER, best of ROUNDS
//
// It runs one thread per processor that it may use: `taskset -c 0` gives one. Rounds go over all
// cases in turn, so that a noisy minute hits all of them.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/cpu/backend.h"
#include "backend/host/host_device.h"
#include "base/bfloat16.h"
#include "base/philox.h"
#include "bench_clock.h"
#include "fma_peak.h"
#include "ops/attention.h"
#include "ops/grouped_convolution.h"
#include "ops/grouped_linear.h"
#include "ops/linear.h"
#include "ops/vocabulary_loss.h"
#include "platform/available_threads.h"
#include "platform/memory.h"

namespace cloze {
namespace {

using backend::KernelRequest;
using graph::TensorType;

// T token slots, sequences of S tokens, P predictions, H hidden, F feed-forward, N heads.
struct Model {
  std::string name;
  int64_t T, S, P, H, F, N;
};
constexpr int64_t kVocabulary = 30522;

const Model kModels[] = {{"base", 4096, 128, 640, 768, 3072, 12},
                         {"base384", 3072, 384, 464, 768, 3072, 12},
                         {"tiny", 8192, 128, 1280, 128, 512, 2}};

struct Case {
  std::string name;
  const graph::OpDefinition* op = nullptr;
  std::any attributes;
  std::vector<TensorType> inputs;
  int64_t sequence_length = 0;  // of i32 inputs that are sequence starts
  double flops = 0.0;
};

// Integers become sequence starts or labels, whichever the operator has.
void fill(const Case& one, const TensorType& type, void* memory) {
  PhiloxStream random(1, 0);
  for (int64_t i = 0; i < type.shape.elements(); ++i) {
    const float number = 0.1f * (2.0f * random.uniform() - 1.0f);
    if (type.dtype == DType::kF32) static_cast<float*>(memory)[i] = number;
    if (type.dtype == DType::kBF16) static_cast<bfloat16*>(memory)[i] = bfloat16(number);
    if (type.dtype == DType::kI32) {
      static_cast<int32_t*>(memory)[i] = static_cast<int32_t>(
          one.sequence_length > 0 ? i * one.sequence_length : random.below(kVocabulary));
    }
  }
}

int num_threads() {
  static const int count = platform::available_threads();
  return count;
}

KernelRequest request_of(const Case& one) {
  KernelRequest request{.op = one.op, .inputs = one.inputs, .attributes = one.attributes};
  request.outputs = one.op->infer(request.inputs, request.attributes);
  request.accumulates.assign(request.outputs.size(), false);
  for (const int output : one.op->accumulable_outputs) {
    if (static_cast<size_t>(output) < request.accumulates.size()) {
      request.accumulates[static_cast<size_t>(output)] = true;
    }
  }
  request.target = backend::cpu::backend().target({.threads = num_threads()});
  return request;
}

// A case with its memory, run in rounds.
class Contestant {
 public:
  Contestant(const Case& one, const backend::KernelEntry& entry)
      : name_(fmt::format("{} {}", one.name, entry.name)), flops_(one.flops) {
    const KernelRequest request = request_of(one);
    kernel_ = entry.create(request);
    for (const TensorType& type : request.inputs) {
      fill(one, type, add(inputs_, static_cast<size_t>(type.bytes())));
    }
    for (const TensorType& type : request.outputs) {
      fill(one, type, add(outputs_, static_cast<size_t>(type.bytes())));
    }
    memory_.emplace_back(kernel_->workspace_bytes());
  }

  void run() {
    const double start = bench::seconds(num_threads());
    kernel_->run({inputs_, outputs_, backend::DeviceAddress(memory_.back().data())}, stream_);
    const double elapsed = bench::seconds(num_threads()) - start;
    best_seconds_ = std::min(best_seconds_, elapsed);
  }

  void print(double peak) const {
    const double gflops = flops_ / best_seconds_ * 1e-9;
    fmt::print("{:<72} {:9.3f} ms {:8.1f} GFLOP/s {:6.1f} %\n", name_, best_seconds_ * 1e3, gflops,
               100.0 * gflops / peak);
  }

 private:
  void* add(std::vector<backend::DeviceAddress>& addresses, size_t bytes) {
    void* const memory = memory_.emplace_back(bytes).data();
    addresses.emplace_back(memory);
    return memory;
  }

  std::string name_;
  double flops_;
  std::unique_ptr<backend::Kernel> kernel_;
  std::vector<platform::MemoryBlock> memory_;  // as a session has
  std::vector<backend::DeviceAddress> inputs_, outputs_;
  backend::host::HostStream stream_;
  double best_seconds_ = 1e9;
};

void add_linear_cases(std::vector<Case>& cases, const Model& model, DType dtype) {
  const auto add = [&](int64_t K, int64_t N, std::optional<ops::GeluForm> activation) {
    const TensorType x{dtype, {model.T, K}}, weight{DType::kF32, {N, K}}, dy{dtype, {model.T, N}};
    const std::string name =
        fmt::format("{} {} {}x{}x{}", model.name, name_of(dtype), model.T, N, K);
    const double flops = 2.0 * static_cast<double>(model.T * K * N);
    cases.push_back({name + (activation ? " gelu" : ""),
                     &ops::kLinear,
                     ops::LinearAttributes{activation},
                     {x, weight, {DType::kF32, {N}}},
                     0,
                     flops});
    cases.push_back({name, &ops::kLinearInputGradient, {}, {dy, weight}, 0, flops});
    cases.push_back({name,
                     &ops::kLinearWeightGradient,
                     ops::LinearWeightGradientAttributes{true},
                     {dy, x},
                     0,
                     flops});
  };
  add(model.H, model.H, std::nullopt);
  add(model.H, model.F, ops::GeluForm::kErf);
  add(model.F, model.H, std::nullopt);
}

// GroupBERT's projection and convolution.
void add_grouped_cases(std::vector<Case>& cases, const Model& model, DType dtype) {
  constexpr int64_t kGroups = 4, kGroupSize = 16, kWidth = 7;
  const TensorType wide{dtype, {model.T, model.F}}, x{dtype, {model.T, model.H}};
  const TensorType weight{DType::kF32, {model.H, model.F / kGroups, 1}};
  const TensorType window{DType::kF32, {model.H, kGroupSize, kWidth}};
  const TensorType bias{DType::kF32, {model.H}}, starts{DType::kI32, {model.T / model.S + 1}};
  const std::string name = fmt::format("{} {} S {}", model.name, name_of(dtype), model.S);
  const auto add = [&](const graph::OpDefinition& op, std::any attributes,
                       std::vector<TensorType> inputs) {
    const double flops = op.flops(inputs, attributes);
    cases.push_back({name, &op, std::move(attributes), std::move(inputs), model.S, flops});
  };
  const ops::GroupedLinearAttributes groups{kGroups};
  add(ops::kGroupedLinear, groups, {wide, weight, bias});
  add(ops::kGroupedLinearInputGradient, groups, {x, weight});
  add(ops::kGroupedLinearWeightGradient, ops::GroupedLinearWeightGradientAttributes{kGroups, true},
      {x, wide});
  add(ops::kGroupedConvolution, {}, {x, window, starts, bias});
  add(ops::kGroupedConvolutionInputGradient, {}, {x, window, starts});
  add(ops::kGroupedConvolutionWeightGradient,
      ops::GroupedConvolutionWeightGradientAttributes{kGroupSize, kWidth, true}, {x, x, starts});
}

void add_attention_cases(std::vector<Case>& cases, const Model& model, DType dtype) {
  const TensorType x{dtype, {model.T, model.H}};
  const TensorType starts{DType::kI32, {model.T / model.S + 1}};
  const TensorType ids{DType::kI32, {model.T}}, key{DType::kI32, {2}};
  const double flops = 2.0 * static_cast<double>(model.T * model.S * model.H);
  for (const double rate : {0.0, 0.1}) {
    const std::string name =
        fmt::format("{} {} S {} rate {}", model.name, name_of(dtype), model.S, rate);
    const ops::AttentionAttributes attributes{model.N, rate, 1};
    cases.push_back(
        {name, &ops::kAttention, attributes, {x, x, x, starts, ids, key}, model.S, 2.0 * flops});
    cases.push_back({name,
                     &ops::kAttentionGradient,
                     attributes,
                     {x, x, x, x, x, {DType::kF32, {model.T, model.N}}, starts, ids, key},
                     model.S,
                     5.0 * flops});
  }
}

void add_vocabulary_cases(std::vector<Case>& cases, const Model& model, DType dtype) {
  const TensorType scalar{DType::kF32, {1}};
  const TensorType x{dtype, {model.P, model.H}}, table{DType::kF32, {kVocabulary, model.H}};
  const TensorType labels{DType::kI32, {model.P}}, bias{DType::kF32, {kVocabulary}};
  const std::string name = fmt::format("{} {} P {}", model.name, name_of(dtype), model.P);
  const double flops = 2.0 * static_cast<double>(model.P * model.H * kVocabulary);
  cases.push_back({name, &ops::kVocabularyLoss, {}, {x, table, labels, scalar, bias}, 0, flops});
  cases.push_back({name,
                   &ops::kVocabularyLossWithGradient,
                   {},
                   {scalar, x, table, labels, scalar, bias},
                   0,
                   3.0 * flops});
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const Model& model : kModels) {
    for (const DType dtype : {DType::kF32, DType::kBF16}) {
      add_linear_cases(cases, model, dtype);
      add_grouped_cases(cases, model, dtype);
      add_attention_cases(cases, model, dtype);
      add_vocabulary_cases(cases, model, dtype);
    }
  }
  return cases;
}

// Every kernel of this backend that serves a case, the reference left out.
std::vector<Contestant> contestants(std::string_view filter) {
  std::vector<Contestant> all;
  for (const Case& one : all_cases()) {
    for (const backend::KernelEntry& entry : backend::cpu::backend().kernels(*one.op)) {
      const std::string name = fmt::format("{} {}", one.name, entry.name);
      if (!entry.name.starts_with("cpu/") || name.find(filter) == std::string::npos) continue;
      if (!entry.refuse(request_of(one))) all.emplace_back(one, entry);
    }
  }
  return all;
}

void run(std::string_view filter, int rounds) {
  const int threads = num_threads();
  std::vector<Contestant> all = contestants(filter);
  double peak = 0.0;
  for (int round = 0; round < rounds; ++round) {
    for (Contestant& one : all) {
      peak = std::max(peak, bench::fma_peak_gflops(threads));
      one.run();
    }
  }
  fmt::print("{} threads, multiply-adds in registers: {:.1f} GFLOP/s f32\n", threads, peak);
  for (const Contestant& one : all) one.print(peak);
}

}  // namespace
}  // namespace cloze

int main(int argc, char** argv) {
  const std::string_view filter = argc > 1 ? argv[1] : "";
  const int rounds = argc > 2 ? std::max(1, std::atoi(argv[2])) : 5;
  cloze::run(filter, rounds);
  return 0;
}
