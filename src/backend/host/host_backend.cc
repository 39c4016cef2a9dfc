#include "backend/host/host_backend.h"

#include "backend/host/host_target.h"
#include "passes/fuse.h"

namespace cloze::backend::host {

std::shared_ptr<const Target> HostBackend::target(const TargetOptions& options) const {
  return std::make_shared<HostTarget>(options);
}

std::vector<GraphPass> HostBackend::training_passes() const {
  return {{"fuse_activations", passes::fuse_activations},
          {"fuse_vocabulary_loss", passes::fuse_vocabulary_loss}};
}

std::vector<GraphPass> HostBackend::evaluation_passes() const {
  return {{"fuse_activations", passes::fuse_activations}};
}

std::vector<GraphPass> HostBackend::inference_passes(DType) const { return evaluation_passes(); }

}  // namespace cloze::backend::host
