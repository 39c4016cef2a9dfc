// Every kernel of this folder, one entry each; backend.cc puts them in order, per operator.
#pragma once

#include "backend/kernel.h"

namespace cloze::backend::cpu {

// Vector kernels: rows and elements, f32, bf16 and f16.
extern const KernelEntry kAccumulateEntry;
extern const KernelEntry kAddEntry;
extern const KernelEntry kCrossEntropyEntry;
extern const KernelEntry kCrossEntropyGradientEntry;
extern const KernelEntry kDropoutEntry;
extern const KernelEntry kDropoutAddLayerNormEntry;
extern const KernelEntry kDropoutAddLayerNormGradientEntry;
extern const KernelEntry kEmbeddingEntry;
extern const KernelEntry kEmbeddingGradientEntry;
extern const KernelEntry kGatedLinearUnitEntry;
extern const KernelEntry kGatedLinearUnitGradientEntry;
extern const KernelEntry kGatherRowsEntry;
extern const KernelEntry kScatterRowsEntry;
extern const KernelEntry kGeluEntry;
extern const KernelEntry kGeluGradientEntry;
extern const KernelEntry kLayerNormEntry;
extern const KernelEntry kLayerNormGradientEntry;
extern const KernelEntry kSwishEntry;
extern const KernelEntry kSwishGradientEntry;
extern const KernelEntry kTanhEntry;
extern const KernelEntry kTanhGradientEntry;

// Vector kernels: the update phase, f32.
extern const KernelEntry kGlobalNormEntry;
extern const KernelEntry kGradientScaleEntry;
extern const KernelEntry kLambEntry;
extern const KernelEntry kAdamWEntry;
extern const KernelEntry kSgdEntry;
extern const KernelEntry kMomentumEntry;
extern const KernelEntry kStochasticRoundingEntry;

// Products: linear, grouped_convolution, attention, vocabulary_loss; f32, bf16 and f16.
extern const KernelEntry kLinearEntry;
extern const KernelEntry kLinearInputGradientEntry;
extern const KernelEntry kLinearWeightGradientEntry;
extern const KernelEntry kNativeLinearEntry;  // bf16 units only, as the next two
extern const KernelEntry kNativeLinearInputGradientEntry;
extern const KernelEntry kNativeLinearWeightGradientEntry;
extern const KernelEntry kGroupedLinearEntry;
extern const KernelEntry kGroupedLinearInputGradientEntry;
extern const KernelEntry kGroupedLinearWeightGradientEntry;
extern const KernelEntry kNativeGroupedLinearEntry;  // bf16 units only, as the next two
extern const KernelEntry kNativeGroupedLinearInputGradientEntry;
extern const KernelEntry kNativeGroupedLinearWeightGradientEntry;
extern const KernelEntry kGroupedConvolutionEntry;
extern const KernelEntry kGroupedConvolutionInputGradientEntry;
extern const KernelEntry kGroupedConvolutionWeightGradientEntry;
extern const KernelEntry kPackWeightEntry;
extern const KernelEntry kPackedLinearEntry;
extern const KernelEntry kPackPairsEntry;           // for the next one
extern const KernelEntry kNativePackedLinearEntry;  // bf16 units only
extern const KernelEntry kAttentionEntry;
extern const KernelEntry kNativeAttentionEntry;  // bf16 units only
extern const KernelEntry kAttentionGradientEntry;
extern const KernelEntry kVocabularyLossEntry;
extern const KernelEntry kVocabularyLossGradientEntry;
extern const KernelEntry kVocabularyLossWithGradientEntry;

}  // namespace cloze::backend::cpu
