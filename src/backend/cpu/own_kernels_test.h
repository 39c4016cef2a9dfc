// The CPU's own kernels, as tests run them: taken from the table, so that none is left out.
#pragma once

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "backend/cpu/backend.h"
#include "backend/cpu/native/matmul.h"
#include "backend/cpu/packed_linear.h"
#include "backend/cpu/part_kernel.h"
#include "backend/reference/backend.h"
#include "ops/attention.h"
#include "ops/packed_linear.h"
#include "ops/vocabulary_loss.h"

namespace cloze::backend::cpu {

inline bool is_native(const KernelEntry& entry) { return entry.name.ends_with("/native_bf16"); }

// Whether the kernels for bf16 units run on any processor: pair products fall back on loops where
// there are no units. The others are oneDNN's.
inline bool multiplies_pairs(const graph::OpDefinition& op) {
  static const graph::OpDefinition* const by_pairs[] = {
      &ops::kAttention, &ops::kAttentionGradient, &ops::kVocabularyLoss,
      &ops::kVocabularyLossGradient, &ops::kVocabularyLossWithGradient};
  return std::ranges::find(by_pairs, &op) != std::end(by_pairs);
}

// The kernels that cases of this dtype test: the operator's own in the table, without the
// reference's. Those for bf16 units are made to serve whatever they can on any processor.
inline std::vector<KernelEntry> own_kernels(const graph::OpDefinition& op, DType dtype) {
  std::vector<KernelEntry> entries;
  for (KernelEntry entry : backend().kernels(op)) {
    if (!entry.name.starts_with("cpu/")) continue;
    if (is_native(entry) && dtype == DType::kBF16) {
      entry.refuse = [](const KernelRequest& request) -> std::optional<std::string> {
        const bool in_panels =
            request.op == &ops::kPackedLinear &&
            request.attributes_as<ops::PackedLinearAttributes>().layout != kPairLayout;
        if (in_panels) return "the weight is packed in panels";
        if (auto why = refuse_rounded_weights(request)) return why;
        return multiplies_pairs(*request.op) ? std::nullopt : refuse_any_bf16();
      };
    }
    entries.push_back(entry);
  }
  return entries;
}

// Operators that have kernels here.
inline std::vector<const graph::OpDefinition*> operators_with_own_kernels() {
  std::vector<const graph::OpDefinition*> operators;
  for (const graph::OpDefinition* op : reference::operators()) {
    if (!own_kernels(*op, DType::kF32).empty()) operators.push_back(op);
  }
  return operators;
}

}  // namespace cloze::backend::cpu
