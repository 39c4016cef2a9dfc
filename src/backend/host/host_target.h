// HostTarget: threads of this machine's processor, to which kernels share their work out.
#pragma once

#include "backend/kernel.h"

namespace cloze::backend::host {

class HostTarget : public Target {
 public:
  // UserError as platform::resolved_threads().
  explicit HostTarget(const TargetOptions& options);

  int threads() const { return threads_; }
  std::string description() const override;

 private:
  int threads_;
};

// One without a target.
inline int threads_of(const KernelRequest& request) {
  if (!request.target) return 1;
  return static_cast<const HostTarget&>(*request.target).threads();
}

}  // namespace cloze::backend::host
