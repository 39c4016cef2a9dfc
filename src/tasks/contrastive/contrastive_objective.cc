#include "tasks/contrastive/contrastive_objective.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace cloze::tasks {
namespace {

// One sight of the vectors: their first numbers.
struct Sight {
  int64_t dimensions = 0;
  double weight = 1.0;
  bool is_normalized = false;
};

ComparedVectors first_dimensions(const models::StepVectors& vectors, int64_t dimensions) {
  ComparedVectors seen{
      .texts = vectors.texts, .dimensions = dimensions, .values = {}, .scores = vectors.scores};
  const int64_t rows = vectors.samples() * vectors.texts;
  seen.values.reserve(static_cast<size_t>(rows * dimensions));
  for (int64_t row = 0; row < rows; ++row) {
    const auto begin = vectors.values.begin() + row * vectors.dimensions;
    seen.values.insert(seen.values.end(), begin, begin + dimensions);
  }
  return seen;
}

// Returns the weighted loss of a sight, and adds its gradient to that by the vectors.
double add_sight(const models::StepVectors& vectors, const Sight& sight,
                 const ContrastiveLoss& loss, const LossSettings& settings,
                 std::vector<double>& gradient) {
  ComparedVectors seen = first_dimensions(vectors, sight.dimensions);
  std::vector<double> lengths;
  if (sight.is_normalized) lengths = make_unit(seen.values, sight.dimensions);
  std::vector<double> by_seen(seen.values.size());
  const double value = loss.formula(seen, settings, by_seen);
  if (sight.is_normalized) through_lengths(seen.values, lengths, by_seen);
  for (size_t i = 0; i < by_seen.size(); ++i) {
    const auto row = static_cast<int64_t>(i) / sight.dimensions;
    const auto column = static_cast<int64_t>(i) % sight.dimensions;
    gradient[static_cast<size_t>(row * vectors.dimensions + column)] += sight.weight * by_seen[i];
  }
  return sight.weight * value;
}

std::vector<Sight> sights_of(const ContrastiveObjective& objective, int64_t vector_dimensions) {
  if (objective.dimensions.empty()) return {{vector_dimensions, 1.0, objective.is_normalized}};
  if (!objective.weights.empty() && objective.weights.size() != objective.dimensions.size()) {
    throw_user_error(
        "matryoshka_weights has {} weights for {} dimensions of matryoshka_dims; give "
        "one for each",
        objective.weights.size(), objective.dimensions.size());
  }
  std::vector<Sight> sights;
  for (size_t k = 0; k < objective.dimensions.size(); ++k) {
    const int64_t dimensions = objective.dimensions[k];
    if (dimensions < 1 || dimensions > vector_dimensions) {
      throw_user_error("matryoshka_dims has {}; the model's vectors have 1 to {}", dimensions,
                       vector_dimensions);
    }
    sights.push_back({dimensions, objective.weights.empty() ? 1.0 : objective.weights[k], true});
  }
  return sights;
}

std::string name_of(const ContrastiveObjective& objective, const std::vector<Sight>& sights) {
  const LossSettings& settings = objective.settings;
  std::string name = fmt::format("{} scale {} margin {}{}", objective.loss, settings.scale,
                                 settings.margin, settings.is_cosine ? " cosine" : "");
  for (const Sight& sight : sights) {
    name += fmt::format(", {} x {}", sight.dimensions, sight.weight);
  }
  return name;
}

}  // namespace

models::VectorLoss ContrastiveObjective::vector_loss(int64_t texts_per_sample,
                                                     int64_t vector_dimensions) const {
  const ContrastiveLoss& loss = contrastive_loss_named(this->loss);
  std::vector<Sight> sights = sights_of(*this, vector_dimensions);
  return {.name = name_of(*this, sights),
          .texts_per_sample = texts_per_sample,
          .compute = [loss, sights, settings = settings](const models::StepVectors& vectors,
                                                         std::span<float> gradients) {
            std::vector<double> gradient(gradients.size());
            double value = 0.0;
            for (const Sight& sight : sights) {
              value += add_sight(vectors, sight, loss, settings, gradient);
            }
            std::ranges::transform(gradient, gradients.begin(),
                                   [](double one) { return static_cast<float>(one); });
            return value;
          }};
}

}  // namespace cloze::tasks
