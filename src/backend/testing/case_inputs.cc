#include "backend/testing/case_inputs.h"

#include <algorithm>

namespace cloze::backend::testing {

void fill_random_inputs(std::vector<Tensor>& inputs, size_t first, Random& random) {
  for (double& id : inputs[first].values) {
    id = static_cast<double>(random.below(1 << 30)) - (1 << 29);
  }
  fill_below(inputs[first + 1], random, 512);
  inputs[first + 2].values = {-static_cast<double>(random.below(1 << 30)),
                              static_cast<double>(random.below(1 << 20))};
}

std::vector<double> starts_of(const std::vector<int64_t>& lengths) {
  std::vector<double> starts{0.0};
  for (const int64_t length : lengths)
    starts.push_back(starts.back() + static_cast<double>(length));
  return starts;
}

void fill_labels(Tensor& labels, const Tensor& logits, Random& random) {
  const auto classes = logits.type.shape[1];
  fill_below(labels, random, classes);
  for (size_t row = 0; row < labels.values.size(); row += 2) {
    const auto first = logits.values.begin() + static_cast<int64_t>(row) * classes;
    labels.values[row] = static_cast<double>(std::max_element(first, first + classes) - first);
  }
  if (labels.values.size() > 3) labels.values.back() = -1.0;
}

void add_loss_and_gradient(std::vector<KernelCase>& cases, KernelCase loss, KernelCase gradient,
                           const FillLoss& fill) {
  loss.prepare = [fill](auto& inputs, Random& random) { fill(inputs, 0, random); };
  gradient.name = loss.name;
  gradient.inputs = loss.inputs;
  gradient.inputs.insert(gradient.inputs.begin(), graph::kScalar);
  gradient.prepare = [fill](auto& inputs, Random& random) {
    inputs[0].values = {0.75};
    fill(inputs, 1, random);
  };
  cases.push_back(std::move(loss));
  cases.push_back(std::move(gradient));
}

void round_values(Tensor& tensor, DType dtype) {
  for (double& value : tensor.values) value = rounded(dtype, value);
}

double absolute_error_of(const std::optional<ops::GeluForm>& activation) {
  return activation == ops::GeluForm::kErf ? ops::kGeluErfError : 0.0;
}

}  // namespace cloze::backend::testing
