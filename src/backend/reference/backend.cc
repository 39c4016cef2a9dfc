#include "backend/reference/backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <unordered_map>

#include "backend/host/host_backend.h"
#include "backend/host/host_device.h"
#include "backend/reference/kernels.h"

namespace cloze::backend::reference {
namespace {

std::vector<DType> floating_dtypes(const KernelRequest& request) {
  std::vector<DType> dtypes;
  for (const auto* types : {&request.inputs, &request.outputs}) {
    for (const graph::TensorType& type : *types) {
      if (is_floating(type.dtype)) dtypes.push_back(type.dtype);
    }
  }
  return dtypes;
}

std::optional<std::string> refuse(const KernelRequest& request) {
  const std::vector<DType> dtypes = floating_dtypes(request);
  const auto all = [&](auto serves) { return std::ranges::all_of(dtypes, serves); };
  for (const DType half : {DType::kBF16, DType::kF16}) {
    if (all([=](DType d) { return d == DType::kF32 || d == half; })) return std::nullopt;
  }
  if (all([](DType d) { return d == DType::kF64; })) return std::nullopt;
  return "serves f32, bf16 or f16 beside f32, or f64 throughout";
}

constexpr KernelTable (*kFamilies[])() = {
#define CLOZE_KERNELS(family) family##_kernels,
    CLOZE_OPERATOR_FAMILIES(CLOZE_KERNELS)
#undef CLOZE_KERNELS
};

class ReferenceBackend final : public host::HostBackend {
 public:
  ReferenceBackend() {
    for (const auto& family : kFamilies) {
      for (const KernelRow& row : family()) {
        operators_.push_back(row.op);
        names_.push_back(fmt::format("reference/{}", row.op->name));
        kernels_[row.op] = {.name = names_.back(), .refuse = refuse, .create = row.create};
      }
    }
  }

  std::string_view name() const override { return "reference"; }
  std::span<const KernelEntry> kernels(const graph::OpDefinition& op) const override {
    const auto found = kernels_.find(&op);
    if (found == kernels_.end()) return {};
    return {&found->second, 1};
  }
  std::span<const graph::OpDefinition* const> operators() const { return operators_; }

 private:
  std::vector<const graph::OpDefinition*> operators_;
  std::deque<std::string> names_;
  std::unordered_map<const graph::OpDefinition*, KernelEntry> kernels_;
};

const ReferenceBackend& instance() {
  static const ReferenceBackend backend;
  return backend;
}

}  // namespace

DType storage_dtype(const KernelRequest& request) {
  const std::vector<DType> dtypes = floating_dtypes(request);
  const auto narrow = std::ranges::find_if(dtypes, [](DType d) { return d != DType::kF32; });
  return narrow == dtypes.end() ? DType::kF32 : *narrow;
}

const Backend& backend() { return instance(); }

Device& device() {
  static host::HostDevice device(backend());
  return device;
}

std::span<const graph::OpDefinition* const> operators() { return instance().operators(); }

}  // namespace cloze::backend::reference
