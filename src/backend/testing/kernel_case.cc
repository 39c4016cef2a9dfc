#include "backend/testing/kernel_case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backend/testing/case_inputs.h"
#include "backend/testing/kernel_sweep.h"

namespace cloze::backend::testing {
namespace {

// FNV-1a, so that adding a case leaves the numbers of the others alone.
uint64_t seed_of(const std::string& text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char letter : text) hash = (hash ^ static_cast<uint8_t>(letter)) * 0x100000001b3u;
  return hash;
}

constexpr std::vector<KernelCase> (*kFamilies[])(DType) = {
#define CLOZE_CASES(family) family##_cases,
    CLOZE_OPERATOR_FAMILIES(CLOZE_CASES)
#undef CLOZE_CASES
};

// Adds the cases and, of those that meet a weight in half precision, one whose weight was rounded
// before.
void append(std::vector<KernelCase>& cases, std::vector<KernelCase> more) {
  for (KernelCase& one : more) {
    KernelCase rounded = one;
    rounded.name += ", rounded weight";
    const DType storage = storage_of(request_of(one));
    for (const int weight : one.op->weight_inputs) rounded.inputs[weight].dtype = storage;
    const bool has_other = rounded.inputs != one.inputs;
    cases.push_back(std::move(one));
    if (has_other) cases.push_back(std::move(rounded));
  }
}

}  // namespace

std::string describe(const KernelCase& kernel_case) {
  std::vector<std::string> types;
  for (const graph::TensorType& type : kernel_case.inputs) types.push_back(type.to_string());
  return fmt::format("{} {} ({})", kernel_case.op->name, kernel_case.name, fmt::join(types, ", "));
}

KernelRequest request_of(const KernelCase& kernel_case) {
  const auto outputs =
      graph::infer_types(*kernel_case.op, kernel_case.inputs, kernel_case.attributes);
  return {.op = kernel_case.op,
          .inputs = kernel_case.inputs,
          .outputs = outputs,
          .accumulates = std::vector<bool>(outputs.size()),
          .attributes = kernel_case.attributes};
}

DType storage_of(const KernelRequest& request) {
  for (const auto* types : {&request.inputs, &request.outputs}) {
    for (const graph::TensorType& type : *types) {
      if (type.dtype == DType::kBF16 || type.dtype == DType::kF16) return type.dtype;
    }
  }
  return DType::kF32;
}

std::vector<Tensor> make_inputs(const KernelCase& kernel_case) {
  Random random(seed_of(describe(kernel_case)));
  std::vector<Tensor> inputs;
  for (const graph::TensorType& type : kernel_case.inputs) {
    inputs.push_back(zeros(type));
    if (is_floating(type.dtype)) fill_normal(inputs.back(), random);
  }
  if (kernel_case.prepare) kernel_case.prepare(inputs, random);
  const DType storage = storage_of(request_of(kernel_case));
  for (const int weight : kernel_case.op->weight_inputs) round_values(inputs[weight], storage);
  for (Tensor& tensor : inputs) round_to_type(tensor);
  return inputs;
}

std::span<const DType> storage_dtypes() {
  static constexpr DType kDtypes[] = {DType::kF32, DType::kBF16, DType::kF16};
  return kDtypes;
}

std::vector<KernelCase> kernel_cases(DType dtype) {
  std::vector<KernelCase> cases;
  for (const auto& family : kFamilies) append(cases, family(dtype));
  return cases;
}

std::vector<KernelCase> kernel_cases(const graph::OpDefinition& op) {
  std::vector<KernelCase> cases;
  for (const DType dtype : storage_dtypes()) {
    for (KernelCase& one : kernel_cases(dtype)) {
      if (one.op == &op) cases.push_back(std::move(one));
    }
  }
  return cases;
}

}  // namespace cloze::backend::testing
