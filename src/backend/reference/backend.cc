#include "backend/reference/backend.h"

#include <fmt/format.h>

#include <algorithm>

#include "backend/host/host_device.h"
#include "backend/reference/activation.h"
#include "backend/reference/attention.h"
#include "backend/reference/call.h"
#include "backend/reference/cross_entropy.h"
#include "backend/reference/dropout.h"
#include "backend/reference/dropout_add_layer_norm.h"
#include "backend/reference/elementwise.h"
#include "backend/reference/embedding.h"
#include "backend/reference/gather_rows.h"
#include "backend/reference/layer_norm.h"
#include "backend/reference/linear.h"
#include "backend/reference/optimizer_update.h"
#include "backend/reference/packed_linear.h"
#include "backend/reference/span_loss.h"
#include "backend/reference/squared_error.h"
#include "backend/reference/vocabulary_loss.h"
#include "base/error.h"
#include "ops/attention.h"
#include "ops/cross_entropy.h"
#include "ops/dropout.h"
#include "ops/dropout_add_layer_norm.h"
#include "ops/elementwise.h"
#include "ops/embedding.h"
#include "ops/gather_rows.h"
#include "ops/gelu.h"
#include "ops/layer_norm.h"
#include "ops/linear.h"
#include "ops/optimizer_update.h"
#include "ops/packed_linear.h"
#include "ops/span_loss.h"
#include "ops/squared_error.h"
#include "ops/tanh.h"
#include "ops/vocabulary_loss.h"

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

// The dtype of activations: bf16 when it occurs beside f32.
DType storage_dtype(const KernelRequest& request) {
  const std::vector<DType> dtypes = floating_dtypes(request);
  if (std::ranges::count(dtypes, DType::kBF16) > 0) return DType::kBF16;
  return dtypes.empty() ? DType::kF32 : dtypes.front();
}

std::optional<std::string> refuse(const KernelRequest& request) {
  const std::vector<DType> dtypes = floating_dtypes(request);
  const auto all = [&](auto serves) { return std::ranges::all_of(dtypes, serves); };
  if (all([](DType d) { return d == DType::kF64; })) return std::nullopt;
  if (all([](DType d) { return d == DType::kF32 || d == DType::kBF16; })) return std::nullopt;
  return "serves f32, bf16 beside f32, or f64 throughout";
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

template <typename Operator>
Row row(const graph::OpDefinition& op, std::string_view name) {
  return {&op, {.name = name, .refuse = refuse, .create = create<Operator>}};
}

const std::vector<Row>& table() {
  static const std::vector<Row> rows{
      row<Embedding>(ops::kEmbedding, "reference/embedding"),
      row<EmbeddingGradient>(ops::kEmbeddingGradient, "reference/embedding_gradient"),
      row<LayerNorm>(ops::kLayerNorm, "reference/layer_norm"),
      row<LayerNormGradient>(ops::kLayerNormGradient, "reference/layer_norm_gradient"),
      row<Dropout>(ops::kDropout, "reference/dropout"),
      row<DropoutAddLayerNorm>(ops::kDropoutAddLayerNorm, "reference/dropout_add_layer_norm"),
      row<DropoutAddLayerNormGradient>(ops::kDropoutAddLayerNormGradient,
                                       "reference/dropout_add_layer_norm_gradient"),
      row<Linear>(ops::kLinear, "reference/linear"),
      row<PackWeight>(ops::kPackWeight, "reference/pack_weight"),
      row<PackedLinear>(ops::kPackedLinear, "reference/packed_linear"),
      row<LinearInputGradient>(ops::kLinearInputGradient, "reference/linear_input_gradient"),
      row<LinearWeightGradient>(ops::kLinearWeightGradient, "reference/linear_weight_gradient"),
      row<Gelu>(ops::kGelu, "reference/gelu"),
      row<GeluGradient>(ops::kGeluGradient, "reference/gelu_gradient"),
      row<Tanh>(ops::kTanh, "reference/tanh"),
      row<TanhGradient>(ops::kTanhGradient, "reference/tanh_gradient"),
      row<Attention>(ops::kAttention, "reference/attention"),
      row<AttentionGradient>(ops::kAttentionGradient, "reference/attention_gradient"),
      row<GatherRows>(ops::kGatherRows, "reference/gather_rows"),
      row<ScatterRows>(ops::kScatterRows, "reference/scatter_rows"),
      row<VocabularyLoss>(ops::kVocabularyLoss, "reference/vocabulary_loss"),
      row<VocabularyLossGradient>(ops::kVocabularyLossGradient,
                                  "reference/vocabulary_loss_gradient"),
      row<VocabularyLossWithGradient>(ops::kVocabularyLossWithGradient,
                                      "reference/vocabulary_loss_with_gradient"),
      row<CrossEntropy>(ops::kCrossEntropy, "reference/cross_entropy"),
      row<CrossEntropyGradient>(ops::kCrossEntropyGradient, "reference/cross_entropy_gradient"),
      row<SpanLoss>(ops::kSpanLoss, "reference/span_loss"),
      row<SpanLossGradient>(ops::kSpanLossGradient, "reference/span_loss_gradient"),
      row<SquaredError>(ops::kSquaredError, "reference/squared_error"),
      row<SquaredErrorGradient>(ops::kSquaredErrorGradient, "reference/squared_error_gradient"),
      row<Add>(ops::kAdd, "reference/add"),
      row<Accumulate>(ops::kAccumulate, "reference/accumulate"),
      row<GlobalNorm>(ops::kGlobalNorm, "reference/global_norm"),
      row<GradientScale>(ops::kGradientScale, "reference/gradient_scale"),
      row<Lamb>(ops::kLamb, "reference/lamb"),
      row<AdamW>(ops::kAdamW, "reference/adamw"),
  };
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
