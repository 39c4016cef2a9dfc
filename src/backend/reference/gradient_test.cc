// Every gradient rule and its reference kernels against central differences of the reference
// forward pass in double, dropout on where it exists. The cases are the smaller kernel cases of the
// operators that can be differentiated. What is not differentiable is not an output of the function
// probed: the count of correct predictions, and the choice of dropped elements (it does not depend
// on the data).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "backend/reference/backend.h"
#include "backend/testing/kernel_case.h"
#include "backend/testing/run_kernel.h"
#include "backend/testing/tolerance.h"
#include "graph/graph.h"
#include "ops/embedding.h"
#include "ops/linear.h"

namespace cloze::backend::reference {
namespace {

using testing::KernelCase;
using testing::Tensor;

constexpr int64_t kMostElements = 5000;  // of all inputs of a case
constexpr size_t kProbesPerInput = 12;

// Evaluates the outputs of all nodes in order; `values` already holds the graph's inputs.
void evaluate(const graph::Graph& graph, std::vector<Tensor>& values) {
  values.resize(static_cast<size_t>(graph.num_values()));
  for (const graph::Node& node : graph.nodes()) {
    std::vector<Tensor> inputs;
    for (const graph::Value value : node.inputs) inputs.push_back(values[value.index]);
    const auto results = testing::apply_in_double(*node.op, node.attributes, inputs);
    for (size_t i = 0; i < node.outputs.size(); ++i) values[node.outputs[i].index] = results[i];
  }
}

// The function differentiated: f(inputs) = sum_i weights[i] * (first output)[i].
struct Function {
  const KernelCase& kernel_case;
  std::vector<Tensor> inputs;
  Tensor weights;

  explicit Function(const KernelCase& of) : kernel_case(of), inputs(make_inputs(of)) {
    testing::Random random(7);
    weights = testing::zeros(request_of(of).outputs[0]);
    testing::fill_normal(weights, random);
    if (of.op == &ops::kEmbedding) ignore_unused_slots();
  }

  // Nothing depends on slots after the last sequence, and the gradient of embedding relies on it.
  void ignore_unused_slots() {
    const int64_t used = static_cast<int64_t>(inputs.back().values.back());
    const auto first_unused = weights.values.begin() + used * weights.type.shape[1];
    std::fill(first_unused, weights.values.end(), 0.0);
  }

  std::vector<double> terms() const {
    const Tensor output =
        testing::apply_in_double(*kernel_case.op, kernel_case.attributes, inputs)[0];
    std::vector<double> products(output.values.size());
    for (size_t i = 0; i < products.size(); ++i) products[i] = weights.values[i] * output.values[i];
    return products;
  }
  double value() const {
    const std::vector<double> products = terms();
    return std::accumulate(products.begin(), products.end(), 0.0);
  }
  double magnitude() const {
    double sum = 0.0;
    for (const double term : terms()) sum += std::abs(term);
    return sum;
  }
};

// One gradient per input by the operator's rule; empty where the rule gives none.
std::vector<Tensor> gradients_by_rule(const Function& function) {
  graph::Graph graph;
  std::vector<graph::Value> inputs;
  for (const Tensor& tensor : function.inputs) {
    inputs.push_back(graph.add_input(std::to_string(inputs.size()), tensor.type));
  }
  graph.add(*function.kernel_case.op, inputs, function.kernel_case.attributes);
  const graph::Node node = graph.nodes().front();
  std::vector<graph::Value> output_gradients(node.outputs.size());
  output_gradients[0] = graph.add_input("gradient", function.weights.type);
  const std::vector<graph::Value> gradients = node.op->differentiate(
      graph, {node, output_gradients, std::vector<bool>(inputs.size(), true)});

  std::vector<Tensor> values = function.inputs;
  values.resize(static_cast<size_t>(graph.num_values()));
  values[output_gradients[0].index] = function.weights;
  evaluate(graph, values);
  std::vector<Tensor> result(gradients.size());
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (gradients[i].valid()) result[i] = values[gradients[i].index];
  }
  return result;
}

testing::CentralDifference probe(Function& function, size_t input, size_t element) {
  double& x = function.inputs[input].values[element];
  const double middle = x;
  std::array<double, 6> values;
  const double steps[] = {-4.0, -2.0, -1.0, 1.0, 2.0, 4.0};
  for (size_t i = 0; i < values.size(); ++i) {
    x = middle + steps[i] * testing::central_difference_step();
    values[i] = function.value();
  }
  x = middle;
  return testing::central_difference(values, function.magnitude());
}

struct Tally {
  int probes = 0;
  int sharp = 0;  // probes whose bound is far below the derivative
};

void check_case(const KernelCase& kernel_case, Tally& tally) {
  Function function(kernel_case);
  const std::vector<Tensor> gradients = gradients_by_rule(function);
  testing::Random random(11);
  for (size_t input = 0; input < gradients.size(); ++input) {
    const size_t elements = gradients[input].values.size();
    for (size_t i = 0; i < std::min(elements, kProbesPerInput); ++i) {
      const auto element = static_cast<size_t>(random.below(static_cast<int64_t>(elements)));
      const testing::CentralDifference difference = probe(function, input, element);
      EXPECT_NEAR(gradients[input].values[element], difference.derivative, difference.error_bound)
          << describe(kernel_case) << ", gradient of input " << input << " [" << element << "]";
      ++tally.probes;
      if (1000.0 * difference.error_bound < std::abs(difference.derivative)) ++tally.sharp;
    }
  }
}

bool is_probed(const KernelCase& kernel_case) {
  // Fused activations appear after differentiation.
  if (kernel_case.op == &ops::kLinear &&
      std::any_cast<const ops::LinearAttributes&>(kernel_case.attributes).activation) {
    return false;
  }
  int64_t elements = 0;
  for (const graph::TensorType& type : kernel_case.inputs) elements += type.shape.elements();
  return elements <= kMostElements;
}

class GradientTest : public ::testing::TestWithParam<const graph::OpDefinition*> {};

TEST_P(GradientTest, MatchesCentralDifferences) {
  Tally tally;
  for (const KernelCase& kernel_case : testing::kernel_cases(DType::kF32)) {
    if (kernel_case.op == GetParam() && is_probed(kernel_case)) check_case(kernel_case, tally);
  }
  EXPECT_GT(3 * tally.sharp, tally.probes)
      << "MISTRUSTED: few of " << tally.probes << " probes have a bound that means anything";
}

std::vector<const graph::OpDefinition*> differentiable_operators() {
  std::vector<const graph::OpDefinition*> found;
  for (const graph::OpDefinition* op : operators()) {
    if (op->differentiate) found.push_back(op);
  }
  return found;
}

INSTANTIATE_TEST_SUITE_P(All, GradientTest, ::testing::ValuesIn(differentiable_operators()),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace cloze::backend::reference
