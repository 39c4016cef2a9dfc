#include "backend/cpu/backend.h"

#include "backend/cpu/kernels.h"
#include "backend/cpu/matmul.h"
#include "backend/cpu/packed_linear.h"
#include "backend/host/host_device.h"
#include "backend/reference/backend.h"
#include "ops/attention.h"
#include "ops/cross_entropy.h"
#include "ops/dropout.h"
#include "ops/dropout_add_layer_norm.h"
#include "ops/elementwise.h"
#include "ops/embedding.h"
#include "ops/gated_linear_unit.h"
#include "ops/gather_rows.h"
#include "ops/gelu.h"
#include "ops/gradient_descent.h"
#include "ops/grouped_convolution.h"
#include "ops/grouped_linear.h"
#include "ops/layer_norm.h"
#include "ops/linear.h"
#include "ops/optimizer_update.h"
#include "ops/packed_linear.h"
#include "ops/stochastic_rounding.h"
#include "ops/swish.h"
#include "ops/tanh.h"
#include "ops/vocabulary_loss.h"

namespace cloze::backend::cpu {
namespace {

struct TableRow {
  const graph::OpDefinition* op = nullptr;
  std::vector<KernelEntry> kernels;  // best first
};

std::vector<TableRow> own_kernels() {
  return {
      {&ops::kAccumulate, {kAccumulateEntry}},
      {&ops::kAdamW, {kAdamWEntry}},
      {&ops::kAdd, {kAddEntry}},
      {&ops::kCrossEntropy, {kCrossEntropyEntry}},
      {&ops::kCrossEntropyGradient, {kCrossEntropyGradientEntry}},
      {&ops::kDropout, {kDropoutEntry}},
      {&ops::kDropoutAddLayerNorm, {kDropoutAddLayerNormEntry}},
      {&ops::kDropoutAddLayerNormGradient, {kDropoutAddLayerNormGradientEntry}},
      {&ops::kEmbedding, {kEmbeddingEntry}},
      {&ops::kEmbeddingGradient, {kEmbeddingGradientEntry}},
      {&ops::kGatedLinearUnit, {kGatedLinearUnitEntry}},
      {&ops::kGatedLinearUnitGradient, {kGatedLinearUnitGradientEntry}},
      {&ops::kGatherRows, {kGatherRowsEntry}},
      {&ops::kGelu, {kGeluEntry}},
      {&ops::kGeluGradient, {kGeluGradientEntry}},
      {&ops::kGlobalNorm, {kGlobalNormEntry}},
      {&ops::kGradientScale, {kGradientScaleEntry}},
      {&ops::kLamb, {kLambEntry}},
      {&ops::kLayerNorm, {kLayerNormEntry}},
      {&ops::kLayerNormGradient, {kLayerNormGradientEntry}},
      {&ops::kMomentum, {kMomentumEntry}},
      {&ops::kScatterRows, {kScatterRowsEntry}},
      {&ops::kSgd, {kSgdEntry}},
      {&ops::kStochasticRounding, {kStochasticRoundingEntry}},
      {&ops::kSwish, {kSwishEntry}},
      {&ops::kSwishGradient, {kSwishGradientEntry}},
      {&ops::kTanh, {kTanhEntry}},
      {&ops::kTanhGradient, {kTanhGradientEntry}},
      // Products.
      {&ops::kAttention, {kNativeAttentionEntry, kAttentionEntry}},
      {&ops::kAttentionGradient, {kAttentionGradientEntry}},
      {&ops::kGroupedConvolution, {kGroupedConvolutionEntry}},
      {&ops::kGroupedConvolutionInputGradient, {kGroupedConvolutionInputGradientEntry}},
      {&ops::kGroupedConvolutionWeightGradient, {kGroupedConvolutionWeightGradientEntry}},
      {&ops::kGroupedLinear, {kNativeGroupedLinearEntry, kGroupedLinearEntry}},
      {&ops::kGroupedLinearInputGradient,
       {kNativeGroupedLinearInputGradientEntry, kGroupedLinearInputGradientEntry}},
      {&ops::kGroupedLinearWeightGradient,
       {kNativeGroupedLinearWeightGradientEntry, kGroupedLinearWeightGradientEntry}},
      {&ops::kLinear, {kNativeLinearEntry, kLinearEntry}},
      {&ops::kLinearInputGradient, {kNativeLinearInputGradientEntry, kLinearInputGradientEntry}},
      {&ops::kLinearWeightGradient, {kNativeLinearWeightGradientEntry, kLinearWeightGradientEntry}},
      {&ops::kPackWeight, {kPackPairsEntry, kPackWeightEntry}},
      {&ops::kPackedLinear, {kNativePackedLinearEntry, kPackedLinearEntry}},
      {&ops::kVocabularyLoss, {kVocabularyLossEntry}},
      {&ops::kVocabularyLossGradient, {kVocabularyLossGradientEntry}},
      {&ops::kVocabularyLossWithGradient, {kVocabularyLossWithGradientEntry}},
  };
}

class CpuBackend final : public Backend {
 public:
  CpuBackend() : table_(own_kernels()) {
    for (TableRow& row : table_) {
      const auto fallback = reference::backend().kernels(*row.op);
      row.kernels.insert(row.kernels.end(), fallback.begin(), fallback.end());
    }
  }

  std::string_view name() const override { return "cpu"; }
  // bf16 weights lie in pairs where the processor multiplies them itself: there it is faster.
  ops::PackWeightAttributes weight_layout(DType precision) const override {
    const bool in_pairs = precision == DType::kBF16 && !refuse_native_bf16();
    return {.panel_columns = weight_panel_columns(),
            .dtype = precision,
            .layout = in_pairs ? ops::WeightLayout::kPairs : ops::WeightLayout::kPanels};
  }

  std::span<const KernelEntry> kernels(const graph::OpDefinition& op) const override {
    for (const TableRow& row : table_) {
      if (row.op == &op) return row.kernels;
    }
    return reference::backend().kernels(op);
  }

 private:
  std::vector<TableRow> table_;
};

}  // namespace

const Backend& backend() {
  static const CpuBackend backend;
  return backend;
}

Device& device() {
  static host::HostDevice device(backend());
  return device;
}

}  // namespace cloze::backend::cpu
