// CudaBackend: the kernels of backend/gpu, as nvcc made them, for one kind of card. It needs no driver: programs are
// planned for a card that the machine does not have.
#pragma once

#include "backend/cuda/cards.h"
#include "backend/kernel.h"

namespace cloze::backend::cuda {

class CudaBackend final : public Backend {
 public:
  explicit CudaBackend(Card card) : card_(std::move(card)) {}

  std::string_view name() const override { return "cuda"; }
  std::string instruction_set() const override { return card_.instruction_set(); }
  int64_t alignment() const override { return 256; }  // cuBLASLt's fastest products want it
  std::shared_ptr<const Target> target(const TargetOptions& options) const override;
  std::vector<GraphPass> training_passes() const override;
  std::vector<GraphPass> evaluation_passes() const override;
  std::vector<GraphPass> inference_passes(DType weights) const override;
  std::vector<LayoutFact> weight_layout(DType weights) const override;
  std::span<const KernelEntry> kernels(const graph::OpDefinition& op) const override;

 private:
  Card card_;
};

}  // namespace cloze::backend::cuda
