#include "backend/cuda/cuda_backend.h"

#include <fmt/format.h>

#include "backend/gpu/card.h"
#include "backend/gpu/graph_passes.h"
#include "passes/fuse.h"

namespace cloze::backend::cuda {
namespace {

class CardTarget final : public Target {
 public:
  explicit CardTarget(const Card& card) : card_(card) {}
  std::string description() const override {
    return fmt::format("{}, {}, {} multiprocessors", card_.name, card_.instruction_set(),
                       card_.multiprocessors);
  }

 private:
  Card card_;
};

}  // namespace

std::shared_ptr<const Target> CudaBackend::target(const TargetOptions&) const {
  return std::make_shared<CardTarget>(card_);
}

std::vector<GraphPass> CudaBackend::training_passes() const { return gpu::training_passes(); }

std::vector<GraphPass> CudaBackend::evaluation_passes() const {
  return {{"fuse_activations", passes::fuse_activations}};
}

std::vector<GraphPass> CudaBackend::inference_passes(DType weights) const {
  return gpu::inference_passes(weights);
}

std::vector<LayoutFact> CudaBackend::weight_layout(DType) const { return gpu::weight_layout(); }

std::span<const KernelEntry> CudaBackend::kernels(const graph::OpDefinition& op) const {
  return gpu::kernels_of(gpu::kernels_by_operator(), op);
}

}  // namespace cloze::backend::cuda
