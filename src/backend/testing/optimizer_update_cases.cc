#include <cmath>
#include <limits>

#include "backend/testing/kernel_case.h"
#include "backend/testing/kernel_sweep.h"
#include "ops/optimizer_update.h"

namespace cloze::backend::testing {
namespace {

using graph::kScalar;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct UpdateVariant {
  std::string name;
  ops::MomentAttributes attributes;
  bool has_zero_parameter = false;
  bool has_infinite_gradient = false;  // with the scale 0 that follows from it
  bool has_infinite_moment = false;    // v, which leaves the parameter finite: `check` reports it
  bool has_infinite_rate = false;      // which leaves the moments finite: `check` reports it
};

std::vector<UpdateVariant> update_variants() {
  return {{"defaults", {}},
          {"weight decay", {.weight_decay = 0.01}},
          {"no debiasing", {.weight_decay = 0.01, .use_debiasing = false}},
          {"no adaptation", {.adapts = false}},
          {"weight norm limited", {.weight_decay = 0.01, .max_weight_norm = 0.5}},
          {"epsilon is corrected, too", {.epsilon = 1e-3, .debiases_epsilon = true}},
          {"other constants", {.beta1 = 0.8, .beta2 = 0.95, .epsilon = 1e-3, .weight_decay = 0.1}},
          {"zero parameter", {.weight_decay = 0.01}, true},
          {"infinite gradient", {.weight_decay = 0.01}, false, true},
          {"infinite moment", {.weight_decay = 0.01}, false, false, true},
          // Without decay: the update's sign is that of m, whatever m is rounded to.
          {"infinite rate", {}, false, false, false, true}};
}

void fill_update(std::vector<Tensor>& inputs, const UpdateVariant& variant) {
  using enum ops::OptimizerUpdate::Input;
  for (double& v : inputs[kV].values) v = 0.1 * v * v;
  for (double& m : inputs[kM].values) m *= 0.1 * variant.attributes.first_moment_scale;
  inputs[kGradientScale].values = {0.7};
  inputs[kLearningRate].values = {0.1};
  inputs[kUpdateIndex].values = {3.0};
  if (variant.has_zero_parameter) {
    for (double& w : inputs[kParameter].values) w = 0.0;
  }
  if (variant.has_infinite_gradient) {
    inputs[kGradient].values.back() = kInfinity;
    inputs[kGradientScale].values = {0.0};
  }
  if (variant.has_infinite_moment) inputs[kV].values.back() = kInfinity;
  if (variant.has_infinite_rate) inputs[kLearningRate].values = {kInfinity};
}

// lamb in two launches; the second with the norms of one tensor and of three.
void add_joined_cases(std::vector<KernelCase>& cases, UpdateVariant variant, const Shape& shape,
                      DType dtype) {
  if (dtype == DType::kF16) variant.attributes.first_moment_scale = 1024.0;
  const graph::TensorType type{DType::kF32, shape};
  KernelCase norms{
      .name = variant.name,
      .op = &ops::kLambNorms,
      .attributes = variant.attributes,
      .inputs = {type, {dtype, shape}, type, type, kScalar, kScalar, {DType::kI32, {1}}, kScalar},
      .prepare = [variant](auto& inputs, Random&) { fill_update(inputs, variant); },
      .summed_terms = shape.elements(),
      .why_zeros = variant.has_infinite_gradient ? "nothing is measured"
                   : variant.has_zero_parameter  ? "the norm of zeros"
                                                 : ""};
  KernelCase move = norms;  // reads the first moment as it is stored
  if (dtype != DType::kF32) norms.through_storage = {0};
  move.op = &ops::kLambMove;
  move.why_zeros = "";
  move.prepare = [variant](auto& inputs, Random&) {
    fill_update(inputs, variant);
    for (size_t input = ops::LambMove::kNorms; input < inputs.size(); ++input) {
      const double weight = variant.has_zero_parameter ? 0.0 : 0.75 * static_cast<double>(input);
      inputs[input].values = {weight, 3.0 + static_cast<double>(input)};
    }
  };
  cases.push_back(std::move(norms));
  for (const int tensors : {1, 3}) {
    KernelCase one = move;
    one.name += tensors == 1 ? ", one tensor" : ", three tensors";
    one.inputs.insert(one.inputs.end(), static_cast<size_t>(tensors), {DType::kF32, {2}});
    cases.push_back(std::move(one));
  }
}

// With the first moment in the dtype: its rounding error reaches the parameter.
void add_update_cases(std::vector<KernelCase>& cases, const Shape& shape, DType dtype) {
  const graph::TensorType type{DType::kF32, shape};
  const graph::TensorType moment{dtype, shape};
  for (const graph::OpDefinition* op : {&ops::kLamb, &ops::kAdamW}) {
    for (UpdateVariant variant : update_variants()) {
      if (dtype == DType::kF16) variant.attributes.first_moment_scale = 1024.0;
      KernelCase one{
          .name = variant.name,
          .op = op,
          .attributes = variant.attributes,
          .inputs = {type, moment, type, type, kScalar, kScalar, {DType::kI32, {1}}, kScalar},
          .prepare = [variant](auto& inputs, Random&) { fill_update(inputs, variant); },
          .summed_terms = shape.elements()};
      if (dtype != DType::kF32) one.through_storage = {0};
      cases.push_back(std::move(one));
    }
  }
  for (const UpdateVariant& variant : update_variants()) {
    if (variant.attributes.adapts) add_joined_cases(cases, variant, shape, dtype);
  }
}

// The sum is kept in double, so its length does not matter.
void add_norm_cases(std::vector<KernelCase>& cases) {
  const graph::TensorType small{DType::kF32, {7}};
  const graph::TensorType large{DType::kF32, {33, 101}};
  cases.push_back({.name = "one", .op = &ops::kGlobalNorm, .inputs = {kScalar}});
  cases.push_back({.name = "several", .op = &ops::kGlobalNorm, .inputs = {small, large, kScalar}});
  cases.push_back({.name = "large values",
                   .op = &ops::kGlobalNorm,
                   .inputs = {small, large},
                   .prepare = [](auto& inputs, Random&) {
                     for (double& value : inputs[1].values) value *= 1e25;
                   }});
  cases.push_back({.name = "infinite gradient",
                   .op = &ops::kGlobalNorm,
                   .inputs = {small, large},
                   .prepare = [](auto& inputs, Random&) { inputs[1].values[50] = kInfinity; },
                   .why_zeros = "the only result is infinite"});
}

void add_scale_cases(std::vector<KernelCase>& cases) {
  const auto add = [&](const std::string& name, double max_norm, double norm, double loss = 2.5,
                       double loss_scale = 1.0) {
    const bool is_finite = std::isfinite(norm) && std::isfinite(loss);
    cases.push_back({.name = name,
                     .op = &ops::kGradientScale,
                     .attributes = ops::GradientScaleAttributes{max_norm},
                     .inputs = {kScalar, kScalar, kScalar, kScalar},
                     .prepare =
                         [=](auto& inputs, Random&) {
                           inputs[ops::GradientScale::kNorm].values = {norm};
                           inputs[ops::GradientScale::kLossScale].values = {loss_scale};
                           inputs[ops::GradientScale::kLossScale + 2].values = {loss};
                         },
                     .why_zeros = is_finite ? "" : "the scale is 0: no update"});
  };
  add("above the limit", 1.5, 7.0);
  add("below the limit", 1.5, 0.3);
  add("no limit", 0.0, 7.0);
  add("scaled, above the limit", 1.5, 7.0 * 1024, 2.5, 1024);
  add("scaled, below the limit", 1.5, 7.0, 2.5, 1024);
  add("scaled, no limit", 0.0, 7.0, 2.5, 65536);
  add("zero norm", 1.0, 0.0);
  add("infinite norm", 1.0, kInfinity);
  add("infinite norm without limit", 0.0, kInfinity);
  add("infinite loss", 1.0, 0.5, kInfinity);
  add("loss that is no number", 0.0, 0.5, std::numeric_limits<double>::quiet_NaN());
  add("norm that is no number", 1.0, std::numeric_limits<double>::quiet_NaN());
}

}  // namespace

std::vector<KernelCase> optimizer_update_cases(DType dtype) {
  std::vector<KernelCase> cases = parameter_cases(
      [&](auto& family, const Shape& shape) { add_update_cases(family, shape, dtype); });
  if (dtype != DType::kF32) return cases;
  add_norm_cases(cases);
  add_scale_cases(cases);
  return cases;
}

std::vector<KernelCase> optimizer_update_sweep(DType dtype, const SweepExtents& extents) {
  std::vector<KernelCase> cases = parameter_sweep(extents, [&](auto& family, const Shape& shape) {
    add_update_cases(family, shape, dtype);
    if (dtype != DType::kF32) return;
    family.push_back({.name = "swept",
                      .op = &ops::kGlobalNorm,
                      .inputs = {{DType::kF32, shape}, {DType::kF32, {7}}}});
  });
  if (dtype != DType::kF32) return cases;
  // Its inputs are scalars: there are no sizes to sweep.
  add_scale_cases(cases);
  return cases;
}

}  // namespace cloze::backend::testing
