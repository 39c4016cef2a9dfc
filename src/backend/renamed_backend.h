// A backend's kernels and layouts under another name: for devices of tests.
#pragma once

#include "backend/kernel.h"

namespace cloze::backend {

class RenamedBackend final : public Backend {
 public:
  // Both outlive it.
  RenamedBackend(std::string_view name, const Backend& renamed) : name_(name), renamed_(renamed) {}

  std::string_view name() const override { return name_; }
  std::shared_ptr<const Target> target(const TargetOptions& options) const override {
    return renamed_.target(options);
  }
  std::span<const KernelEntry> kernels(const graph::OpDefinition& op) const override {
    return renamed_.kernels(op);
  }
  ops::PackWeightAttributes weight_layout(DType precision) const override {
    return renamed_.weight_layout(precision);
  }

 private:
  std::string_view name_;
  const Backend& renamed_;
};

}  // namespace cloze::backend
