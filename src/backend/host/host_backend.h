// HostBackend: what backends share whose kernels run on this machine's processor: targets, and the
// passes of kernels that have no layouts of their own.
#pragma once

#include "backend/kernel.h"

namespace cloze::backend::host {

class HostBackend : public Backend {
 public:
  std::string instruction_set() const override { return "scalar"; }
  std::shared_ptr<const Target> target(const TargetOptions& options) const override;
  std::vector<GraphPass> training_passes() const override;
  std::vector<GraphPass> evaluation_passes() const override;
  std::vector<GraphPass> inference_passes(DType weights) const override;
};

}  // namespace cloze::backend::host
