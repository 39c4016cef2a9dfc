// Speed of the CPU kernels, one by one, at the shapes of BERT base and tiny (4096 token slots):
// bytes of inputs and outputs per second. Each byte counts once, so a kernel that needs one pass
// over memory can reach the machine's bandwidth.
//
//   kernel_bench --benchmark_filter='layer_norm.*base.*bf16'
//
// It runs one thread per processor that it may use: `taskset -c 0` gives one.
#include <benchmark/benchmark.h>

#include <cstring>
#include <string>
#include <utility>

#include "backend/cpu/backend.h"
#include "backend/host/host_device.h"
#include "base/bfloat16.h"
#include "base/philox.h"
#include "graph/op.h"
#include "ops/dropout.h"
#include "ops/dropout_add_layer_norm.h"
#include "ops/elementwise.h"
#include "ops/embedding.h"
#include "ops/gated_linear_unit.h"
#include "ops/gather_rows.h"
#include "ops/gelu.h"
#include "ops/layer_norm.h"
#include "ops/optimizer_update.h"
#include "ops/swish.h"
#include "ops/tanh.h"
#include "platform/memory.h"

namespace cloze {
namespace {

using backend::KernelRequest;
using graph::TensorType;

// T token slots, sequences of S tokens, P predictions, H hidden, F feed-forward, V vocabulary.
struct Model {
  std::string name;
  int64_t T = 4096;
  int64_t S = 128;
  int64_t P = 640;
  int64_t H = 0;
  int64_t F = 0;
  int64_t V = 30522;
};
const Model kModels[] = {{.name = "base", .H = 768, .F = 3072},
                         {.name = "tiny", .H = 128, .F = 512}};

constexpr double kRate = 0.1;
constexpr int64_t kTokenTypes = 2;

// Floating inputs are uniform in [-1, 1).
struct Input {
  TensorType type;
  int64_t bound = 1;  // integers are below this
  bool is_sequence_starts = false;
};

Input floats(DType dtype, Shape shape) { return {.type = {dtype, std::move(shape)}}; }
Input ids(int64_t count, int64_t bound) { return {.type = {DType::kI32, {count}}, .bound = bound}; }

void fill(const Input& input, int64_t sequence_length, void* memory) {
  PhiloxStream random(1, 0);
  for (int64_t i = 0; i < input.type.shape.elements(); ++i) {
    const float number = 2.0f * random.uniform() - 1.0f;
    if (input.type.dtype == DType::kF32) static_cast<float*>(memory)[i] = number;
    if (input.type.dtype == DType::kBF16) static_cast<bfloat16*>(memory)[i] = bfloat16(number);
    if (input.type.dtype == DType::kI32) {
      const auto id = static_cast<int32_t>(random.below(static_cast<uint32_t>(input.bound)));
      static_cast<int32_t*>(memory)[i] =
          input.is_sequence_starts ? static_cast<int32_t>(i * sequence_length) : id;
    }
  }
}

struct Case {
  const graph::OpDefinition* op = nullptr;
  std::any attributes;
  std::vector<Input> inputs;
  int64_t sequence_length = 0;
};

KernelRequest request_of(const Case& bench_case) {
  KernelRequest request{.op = bench_case.op, .attributes = bench_case.attributes};
  for (const Input& input : bench_case.inputs) request.inputs.push_back(input.type);
  request.outputs = graph::infer_types(*bench_case.op, request.inputs, request.attributes);
  request.accumulates.assign(request.outputs.size(), false);
  // As in training: gradients of parameters are added to what is there.
  for (const int output : bench_case.op->accumulable_outputs) {
    request.accumulates[static_cast<size_t>(output)] = true;
  }
  request.target = backend::cpu::backend().target({});
  return request;
}

void run_case(benchmark::State& state, const Case& bench_case) {
  const KernelRequest request = request_of(bench_case);
  const auto kernel = backend::cpu::backend().kernels(*request.op)[0].create(request);
  std::vector<platform::MemoryBlock> memory;
  std::vector<backend::DeviceAddress> inputs;
  std::vector<backend::DeviceAddress> outputs;
  int64_t bytes = 0;
  const auto allocate = [&](const TensorType& type) {
    bytes += type.bytes();
    return memory.emplace_back(static_cast<size_t>(type.bytes())).data();
  };
  for (const Input& input : bench_case.inputs) {
    void* const address = allocate(input.type);
    inputs.emplace_back(address);
    fill(input, bench_case.sequence_length, address);
  }
  for (const TensorType& type : request.outputs) outputs.emplace_back(allocate(type));
  for (const int input : request.op->mutated_inputs) {
    bytes += request.inputs[static_cast<size_t>(input)].bytes();
  }
  const platform::MemoryBlock workspace(kernel->workspace_bytes());
  const backend::KernelArguments arguments{inputs, outputs,
                                           backend::DeviceAddress(workspace.data())};
  backend::host::HostStream stream;
  for (auto _ : state) kernel->run(arguments, stream);
  state.SetBytesProcessed(state.iterations() * bytes);
}

std::vector<Case> activation_cases(const Model& m, DType dtype) {
  const Input x = floats(dtype, {m.T, m.H});
  const Input wide = floats(dtype, {m.T, m.F});
  const Input channels = floats(DType::kF32, {m.H});
  const Input rows = floats(DType::kF32, {m.T});
  const Input samples = ids(m.T, 1 << 30);
  const Input positions = ids(m.T, m.S);
  const Input key = ids(2, 1 << 30);
  const ops::DropoutAddLayerNormAttributes add_and_normalize{.rate = kRate};
  return {
      {&ops::kAdd, {}, {x, x}},
      {&ops::kDropout, ops::DropoutAttributes{.rate = kRate}, {x, samples, positions, key}},
      {&ops::kLayerNorm, ops::LayerNormAttributes{}, {x, channels, channels}},
      {&ops::kLayerNormGradient, ops::LayerNormAttributes{}, {x, x, channels, rows, rows}},
      {&ops::kDropoutAddLayerNorm,
       add_and_normalize,
       {x, x, channels, channels, samples, positions, key}},
      {&ops::kDropoutAddLayerNormGradient,
       add_and_normalize,
       {x, x, channels, rows, rows, samples, positions, key}},
      {&ops::kGelu, ops::GeluAttributes{}, {wide}},
      {&ops::kGeluGradient, ops::GeluAttributes{}, {wide, wide}},
      {&ops::kTanh, {}, {x}},
      {&ops::kSwish, {}, {x}},
      {&ops::kSwishGradient, {}, {x, x}},
      {&ops::kGatedLinearUnit, {}, {floats(dtype, {m.T, 2 * m.H})}},
      {&ops::kGatedLinearUnitGradient, {}, {x, floats(dtype, {m.T, 2 * m.H})}},
      {&ops::kGatherRows, {}, {x, ids(m.P, m.T)}},
      {&ops::kScatterRows,
       ops::ScatterRowsAttributes{m.T},
       {floats(dtype, {m.P, m.H}), ids(m.P, m.T)}},
  };
}

std::vector<Case> embedding_cases(const Model& m, DType dtype) {
  const Input words = ids(m.T, m.V);
  const Input types = ids(m.T, kTokenTypes);
  const Input positions = ids(m.T, m.S);
  Input starts = ids(m.T / m.S + 1, 1);
  starts.is_sequence_starts = true;
  const auto table = [&](int64_t count) { return floats(DType::kF32, {count, m.H}); };
  return {
      {&ops::kEmbedding,
       ops::EmbeddingAttributes{dtype},
       {words, types, positions, table(m.V), table(kTokenTypes), table(m.S), starts},
       m.S},
      {&ops::kEmbeddingGradient,
       ops::EmbeddingGradientAttributes{m.V, kTokenTypes, m.S},
       {floats(dtype, {m.T, m.H}), words, types, positions, starts},
       m.S},
  };
}

// One feed-forward weight.
std::vector<Case> update_cases(const Model& m) {
  const Input weight = floats(DType::kF32, {m.F, m.H});
  const Input scalar = floats(DType::kF32, {1});
  const Input update_index = ids(1, 1);
  const Input check = scalar;
  const std::vector<Input> update{weight, weight, weight,       weight,
                                  scalar, scalar, update_index, check};
  return {
      {&ops::kAccumulate, {}, {weight}},
      {&ops::kGlobalNorm, {}, {weight, weight, weight, weight}},
      {&ops::kLamb, ops::MomentAttributes{.use_debiasing = false}, update},
      {&ops::kAdamW, ops::MomentAttributes{.use_debiasing = false}, update},
  };
}

void register_cases(const std::vector<Case>& cases, const Model& model, DType dtype) {
  for (const Case& bench_case : cases) {
    const std::string name =
        std::string(bench_case.op->name) + "/" + model.name + "/" + std::string(name_of(dtype));
    benchmark::RegisterBenchmark(
        name.c_str(), [bench_case](benchmark::State& state) { run_case(state, bench_case); })
        ->UseRealTime()
        ->Unit(benchmark::kMicrosecond);
  }
}

}  // namespace
}  // namespace cloze

int main(int argc, char** argv) {
  using namespace cloze;
  for (const Model& model : kModels) {
    for (const DType dtype : {DType::kF32, DType::kBF16}) {
      register_cases(activation_cases(model, dtype), model, dtype);
      register_cases(embedding_cases(model, dtype), model, dtype);
    }
    register_cases(update_cases(model), model, DType::kF32);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
