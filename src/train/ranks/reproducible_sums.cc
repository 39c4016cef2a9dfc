#include "train/ranks/reproducible_sums.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <utility>

#include "base/error.h"
#include "base/seconds.h"
#include "platform/phase.h"
#include "runtime/sum_of_squares.h"
#include "runtime/value_slices.h"

namespace cloze::train {
namespace {

using graph::Graph;
using graph::Value;
using graph::ValueInfo;
using graph::ValueKind;
using graph::VariableRole;
using Clock = std::chrono::steady_clock;

bool is_summed(const ValueInfo& info) {
  return info.kind == ValueKind::kVariable &&
         (info.role == VariableRole::kGradient || info.role == VariableRole::kMetric);
}

size_t elements_of(const Graph& graph, Value variable) {
  CLOZE_CHECK(graph.type(variable).dtype == DType::kF32, "{} is not summed in f32",
              graph.info(variable).name);
  return static_cast<size_t>(graph.type(variable).shape.elements());
}

// The squares of one tensor.
struct Squares {
  int64_t number = 0;  // in the whole model
  double sum = 0.0;
};

}  // namespace

ReproducibleSums::ReproducibleSums(engine::Session& session, comm::Communicator& ranks)
    : session_(session), ranks_(ranks) {
  const Graph& graph = session.graph();
  const size_t launches = session.executor().num_launches(graph::kMicroStep);
  for (const Value variable : summed_variables(graph, 0, launches)) {
    sums_[variable.index].resize(elements_of(graph, variable));
  }
}

void ReproducibleSums::begin() {
  for (auto& [variable, sums] : sums_) std::ranges::fill(sums, 0.0f);
}

// Only rank 0 brings the sum so far.
void ReproducibleSums::add_own(Value variable, std::span<float> sums) {
  for (runtime::ValueSlices slices(session_.executor(), variable); slices.next();) {
    const std::span<const float> own = slices.read<float>();
    const std::span<float> slice = sums.subspan(static_cast<size_t>(slices.first()), own.size());
    if (ranks_.rank() == 0) {
      std::ranges::transform(slice, own, slice.begin(), std::plus<>());
    } else {
      std::ranges::copy(own, slice.begin());
    }
  }
  session_.executor().clear(variable);
}

void ReproducibleSums::add(std::span<const Value> variables) {
  platform::enter_wait("summing gradients");
  for (const Value variable : variables) {
    std::vector<float>& sums = sums_.at(variable.index);
    add_own(variable, sums);
    const Clock::time_point start = Clock::now();
    ranks_.all_reduce(sums);
    const double seconds = seconds_since(start);
    time_.seconds += seconds;
    time_.waited += seconds;
  }
}

void ReproducibleSums::end() {
  for (const auto& [variable, sums] : sums_) {
    session_.executor().write({variable}, std::as_bytes(std::span(sums)));
  }
}

CommunicationTime ReproducibleSums::take_time() { return std::exchange(time_, {}); }

std::vector<Value> summed_variables(const Graph& graph, size_t begin, size_t end) {
  std::vector<Value> variables;
  size_t launch = 0;
  for (const graph::Node* node : graph.nodes_of(graph::kMicroStep)) {
    const bool is_inside = launch >= begin && launch < end;
    ++launch;
    for (const Value output : node->outputs) {
      if (!is_inside || !is_summed(graph.info(output))) continue;
      if (std::ranges::find(variables, output) == variables.end()) variables.push_back(output);
    }
  }
  return variables;
}

float reproducible_norm(engine::Session& session, std::span<const int32_t> numbers,
                        comm::Communicator& ranks) {
  std::vector<Squares> own;
  auto number = numbers.begin();
  for (const Value gradient : session.graph().variables(VariableRole::kGradient)) {
    if (const int64_t at = *number++; at >= 0) {
      own.push_back({at, runtime::sum_of_squares(session.executor(), gradient)});
    }
  }
  std::vector<Squares> all;
  for (const std::vector<Squares>& theirs : ranks.all_gather(own)) {
    all.insert(all.end(), theirs.begin(), theirs.end());
  }
  std::ranges::sort(all, {}, &Squares::number);
  double sum = 0.0;
  for (const Squares& tensor : all) sum += tensor.sum;
  return static_cast<float>(std::sqrt(sum));
}

}  // namespace cloze::train
