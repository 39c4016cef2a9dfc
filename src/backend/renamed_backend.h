// A backend's kernels and layouts under another name: for devices of tests.
#pragma once

#include "backend/kernel.h"

namespace cloze::backend {

class RenamedBackend final : public Backend {
 public:
  // Both outlive it.
  RenamedBackend(std::string_view name, const Backend& renamed) : name_(name), renamed_(renamed) {}

  std::string_view name() const override { return name_; }
  std::string instruction_set() const override { return renamed_.instruction_set(); }
  int64_t alignment() const override { return renamed_.alignment(); }
  std::shared_ptr<const Target> target(const TargetOptions& options) const override {
    return renamed_.target(options);
  }
  std::span<const KernelEntry> kernels(const graph::OpDefinition& op) const override {
    return renamed_.kernels(op);
  }
  std::vector<GraphPass> training_passes() const override { return renamed_.training_passes(); }
  std::vector<GraphPass> evaluation_passes() const override { return renamed_.evaluation_passes(); }
  std::vector<GraphPass> inference_passes(DType weights) const override {
    return renamed_.inference_passes(weights);
  }
  std::vector<LayoutFact> weight_layout(DType weights) const override {
    return renamed_.weight_layout(weights);
  }
  std::optional<std::string> refuse_layout(DType weights,
                                           std::span<const LayoutFact> there) const override {
    return renamed_.refuse_layout(weights, there);
  }

 private:
  std::string_view name_;
  const Backend& renamed_;
};

}  // namespace cloze::backend
