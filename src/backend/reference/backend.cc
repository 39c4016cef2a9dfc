#include "backend/reference/backend.h"

#include <fmt/format.h>

#include <algorithm>

#include "backend/host/host_device.h"
#include "backend/reference/kernels.h"
#include "base/error.h"

namespace cloze::backend::reference {
namespace {

std::vector<DType> floating_dtypes(const KernelRequest& request) {
  std::vector<DType> dtypes;
  for (const auto* types : {&request.inputs, &request.outputs}) {
    for (const graph::TensorType& type : *types) {
      if (is_floating(type.dtype)) dtypes.push_back(type.dtype);
    }
  }
  return dtypes;
}

// The dtype of activations: bf16 or f16 when it occurs beside f32.
DType storage_dtype(const KernelRequest& request) {
  const std::vector<DType> dtypes = floating_dtypes(request);
  const auto narrow = std::ranges::find_if(dtypes, [](DType d) { return d != DType::kF32; });
  return narrow == dtypes.end() ? DType::kF32 : *narrow;
}

std::optional<std::string> refuse(const KernelRequest& request) {
  const std::vector<DType> dtypes = floating_dtypes(request);
  const auto all = [&](auto serves) { return std::ranges::all_of(dtypes, serves); };
  for (const DType half : {DType::kBF16, DType::kF16}) {
    if (all([=](DType d) { return d == DType::kF32 || d == half; })) return std::nullopt;
  }
  if (all([](DType d) { return d == DType::kF64; })) return std::nullopt;
  return "serves f32, bf16 or f16 beside f32, or f64 throughout";
}

template <typename Operator>
class ReferenceKernel : public Kernel {
 public:
  explicit ReferenceKernel(const KernelRequest& request)
      : request_(request), storage_(storage_dtype(request)) {}

  size_t workspace_bytes() const override {
    if constexpr (requires { Operator::workspace_bytes(request_); }) {
      return Operator::workspace_bytes(request_);
    }
    return 0;
  }

  void run(const KernelArguments& arguments, Stream&) override {
    const Call call{request_, arguments};
    switch (storage_) {
      case DType::kF32:
        return Operator::template run<float>(call);
      case DType::kBF16:
        return Operator::template run<bfloat16>(call);
      case DType::kF16:
        return Operator::template run<float16>(call);
      case DType::kF64:
        return Operator::template run<double>(call);
      default:
        CLOZE_CHECK(false, "{} on {}", request_.op->name, name_of(storage_));
    }
  }

 private:
  KernelRequest request_;
  DType storage_;
};

template <typename Operator>
std::unique_ptr<Kernel> create(const KernelRequest& request) {
  return std::make_unique<ReferenceKernel<Operator>>(request);
}

struct Row {
  const graph::OpDefinition* op;
  KernelEntry entry;
};

// A kernel is called as its operator.
template <typename Operator>
Row row() {
  static const std::string name = fmt::format("reference/{}", Operator::kOp.name);
  return {&Operator::kOp, {.name = name, .refuse = refuse, .create = create<Operator>}};
}

template <typename... Operators>
std::vector<Row> rows_of() {
  return {row<Operators>()...};
}

const std::vector<Row>& table() {
  static const std::vector<Row> rows =
      rows_of<Embedding, EmbeddingGradient, LayerNorm, LayerNormGradient, Dropout,
              DropoutAddLayerNorm, DropoutAddLayerNormGradient, Linear, PackWeight, PackedLinear,
              LinearInputGradient, LinearWeightGradient, GroupedLinear, GroupedLinearInputGradient,
              GroupedLinearWeightGradient, GroupedConvolution, GroupedConvolutionInputGradient,
              GroupedConvolutionWeightGradient, Gelu, GeluGradient, Swish, SwishGradient,
              GatedLinearUnit, GatedLinearUnitGradient, Tanh, TanhGradient, Attention,
              AttentionGradient, GatherRows, ScatterRows, VocabularyLoss, VocabularyLossGradient,
              VocabularyLossWithGradient, CrossEntropy, CrossEntropyGradient, SpanLoss,
              SpanLossGradient, SquaredError, SquaredErrorGradient, Add, Accumulate, GlobalNorm,
              GradientScale, Lamb, LambNorms, LambMove, AdamW, Sgd, Momentum, StochasticRounding>();
  return rows;
}

class ReferenceBackend : public Backend {
 public:
  std::string_view name() const override { return "reference"; }
  std::span<const KernelEntry> kernels(const graph::OpDefinition& op) const override {
    const auto found = std::ranges::find(table(), &op, &Row::op);
    if (found == table().end()) return {};
    return {&found->entry, 1};
  }
};

}  // namespace

const Backend& backend() {
  static const ReferenceBackend instance;
  return instance;
}

Device& device() {
  static host::HostDevice instance(backend());
  return instance;
}

std::span<const graph::OpDefinition* const> operators() {
  static const std::vector<const graph::OpDefinition*> all = [] {
    std::vector<const graph::OpDefinition*> ops;
    for (const Row& row : table()) ops.push_back(row.op);
    return ops;
  }();
  return all;
}

}  // namespace cloze::backend::reference
