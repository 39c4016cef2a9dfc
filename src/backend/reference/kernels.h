// Every reference kernel, by the name that ops/ gives its inputs and outputs; backend.cc has the
// table. X is the storage type of activations (call.h).
#pragma once

#include "backend/reference/call.h"
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
#include "ops/span_loss.h"
#include "ops/squared_error.h"
#include "ops/stochastic_rounding.h"
#include "ops/swish.h"
#include "ops/tanh.h"
#include "ops/vocabulary_loss.h"

namespace cloze::backend::reference {

// The kernel `Operator` of the operator whose inputs and outputs `Names` names.
#define CLOZE_REFERENCE_KERNEL(Operator, Names, ...)                    \
  struct Operator : ops::Names {                                        \
    static constexpr const graph::OpDefinition& kOp = ops::k##Operator; \
    template <typename X>                                               \
    static void run(const Call& call);                                  \
    __VA_ARGS__                                                         \
  }
#define CLOZE_REFERENCE_KERNEL_WITH_WORKSPACE(Operator, Names) \
  CLOZE_REFERENCE_KERNEL(Operator, Names, static size_t workspace_bytes(const KernelRequest&);)

CLOZE_REFERENCE_KERNEL(Accumulate, Accumulate);
CLOZE_REFERENCE_KERNEL(AdamW, OptimizerUpdate);
CLOZE_REFERENCE_KERNEL(Add, Add);
CLOZE_REFERENCE_KERNEL_WITH_WORKSPACE(Attention, Attention);
CLOZE_REFERENCE_KERNEL_WITH_WORKSPACE(AttentionGradient, AttentionGradient);
CLOZE_REFERENCE_KERNEL(CrossEntropy, CrossEntropy);
CLOZE_REFERENCE_KERNEL(CrossEntropyGradient, CrossEntropyGradient);
CLOZE_REFERENCE_KERNEL(Dropout, Dropout);
CLOZE_REFERENCE_KERNEL(DropoutAddLayerNorm, DropoutAddLayerNorm);
CLOZE_REFERENCE_KERNEL_WITH_WORKSPACE(DropoutAddLayerNormGradient, DropoutAddLayerNormGradient);
CLOZE_REFERENCE_KERNEL(Embedding, Embedding);
CLOZE_REFERENCE_KERNEL_WITH_WORKSPACE(EmbeddingGradient, EmbeddingGradient);
CLOZE_REFERENCE_KERNEL(GatedLinearUnit, GatedLinearUnit);
CLOZE_REFERENCE_KERNEL(GatedLinearUnitGradient, GatedLinearUnitGradient);
CLOZE_REFERENCE_KERNEL(GatherRows, GatherRows);
CLOZE_REFERENCE_KERNEL(Gelu, Gelu);
CLOZE_REFERENCE_KERNEL(GeluGradient, GeluGradient);
CLOZE_REFERENCE_KERNEL(GlobalNorm, GlobalNorm);
CLOZE_REFERENCE_KERNEL(GradientScale, GradientScale);
CLOZE_REFERENCE_KERNEL(GroupedConvolution, GroupedConvolution);
CLOZE_REFERENCE_KERNEL(GroupedConvolutionInputGradient, GroupedConvolutionInputGradient);
CLOZE_REFERENCE_KERNEL(GroupedConvolutionWeightGradient, GroupedConvolutionWeightGradient);
CLOZE_REFERENCE_KERNEL(GroupedLinear, GroupedLinear);
CLOZE_REFERENCE_KERNEL(GroupedLinearInputGradient, GroupedLinearInputGradient);
CLOZE_REFERENCE_KERNEL(GroupedLinearWeightGradient, GroupedLinearWeightGradient);
CLOZE_REFERENCE_KERNEL(Lamb, OptimizerUpdate);
CLOZE_REFERENCE_KERNEL(LambMove, LambMove);
CLOZE_REFERENCE_KERNEL(LambNorms, LambNorms);
CLOZE_REFERENCE_KERNEL(LayerNorm, LayerNorm);
CLOZE_REFERENCE_KERNEL_WITH_WORKSPACE(LayerNormGradient, LayerNormGradient);
CLOZE_REFERENCE_KERNEL(Linear, Linear);
CLOZE_REFERENCE_KERNEL(LinearInputGradient, LinearInputGradient);
CLOZE_REFERENCE_KERNEL(LinearWeightGradient, LinearWeightGradient);
CLOZE_REFERENCE_KERNEL(Momentum, Momentum);
CLOZE_REFERENCE_KERNEL(PackWeight, PackWeight);
CLOZE_REFERENCE_KERNEL_WITH_WORKSPACE(PackedLinear, PackedLinear);
CLOZE_REFERENCE_KERNEL_WITH_WORKSPACE(ScatterRows, ScatterRows);
CLOZE_REFERENCE_KERNEL(Sgd, Sgd);
CLOZE_REFERENCE_KERNEL(SpanLoss, SpanLoss);
CLOZE_REFERENCE_KERNEL(SpanLossGradient, SpanLossGradient);
CLOZE_REFERENCE_KERNEL(SquaredError, SquaredError);
CLOZE_REFERENCE_KERNEL(SquaredErrorGradient, SquaredErrorGradient);
CLOZE_REFERENCE_KERNEL(StochasticRounding, StochasticRounding);
CLOZE_REFERENCE_KERNEL(Swish, Swish);
CLOZE_REFERENCE_KERNEL(SwishGradient, SwishGradient);
CLOZE_REFERENCE_KERNEL(Tanh, Tanh);
CLOZE_REFERENCE_KERNEL(TanhGradient, TanhGradient);
CLOZE_REFERENCE_KERNEL_WITH_WORKSPACE(VocabularyLoss, VocabularyLoss);
CLOZE_REFERENCE_KERNEL_WITH_WORKSPACE(VocabularyLossGradient, VocabularyLossGradient);
CLOZE_REFERENCE_KERNEL_WITH_WORKSPACE(VocabularyLossWithGradient, VocabularyLossWithGradient);

}  // namespace cloze::backend::reference
