#include "train/vector_gradients.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/error.h"
#include "platform/phase.h"
#include "platform/signals.h"
#include "train/ranks/step_exchange.h"

namespace cloze::train {

VectorGradients::VectorGradients(models::VectorLoss loss, comm::Communicator& ranks)
    : loss_(std::move(loss)), ranks_(ranks) {}

// Those of the micro-batches that this rank computes (train/ranks/step_exchange.h), in their order.
std::vector<float> VectorGradients::own_vectors(feed::StepInputs& inputs) {
  std::vector<float> own, rows;
  launches_done_ = 0;
  for (int64_t pass = ranks_.rank(); pass < inputs.num_passes(); pass += ranks_.size()) {
    if (ranks_.size() == 1) platform::stop_if_requested();
    platform::enter_phase("making vectors of a micro-batch");
    engine::Session& session = inputs.session_with(pass);
    const size_t launches = launches_to(session.graph(), graph::kMicroStep, models::kVectors);
    session.executor().run_part(graph::kMicroStep, 0, launches);
    if (inputs.num_passes() <= ranks_.size()) launches_done_ = launches;
    session.read<float>(models::kVectors, rows);
    const auto& shape = session.graph().type(session.value(models::kVectors)).shape;
    own.insert(own.end(), rows.begin(),
               rows.begin() + inputs.micro_batch(pass).num_sequences * shape[1]);
  }
  return own;
}

// The texts of a rank's micro-batches, in its order; their values are those that it gave.
std::vector<VectorGradients::Row> VectorGradients::rows_of(int rank, std::span<const float> values,
                                                           const feed::StepInputs& inputs) const {
  std::vector<Row> rows;
  for (int64_t pass = rank; pass < inputs.num_passes(); pass += ranks_.size()) {
    const data::MicroBatch& batch = inputs.micro_batch(pass);
    for (int64_t b = 0; b < batch.num_sequences; ++b) {
      rows.push_back({.number = batch.sequence_ids[b], .score = batch.scores[b]});
    }
  }
  const size_t width = rows.empty() ? 0 : values.size() / rows.size();
  for (size_t i = 0; i < rows.size(); ++i) rows[i].values = values.subspan(i * width, width);
  return rows;
}

VectorGradients::Texts VectorGradients::gather(feed::StepInputs& inputs) {
  const std::vector<float> own = own_vectors(inputs);
  platform::enter_wait("gathering vectors");
  const std::vector<std::vector<float>> all = ranks_.all_gather(own);
  std::vector<Row> rows;
  for (int rank = 0; rank < ranks_.size(); ++rank) {
    const std::vector<Row> theirs = rows_of(rank, all[static_cast<size_t>(rank)], inputs);
    rows.insert(rows.end(), theirs.begin(), theirs.end());
  }
  std::ranges::sort(rows, {}, &Row::number);
  Texts texts{.dimensions = rows.front().values.size()};
  for (const Row& row : rows) {
    if (row.number % loss_.texts_per_sample == 0) texts.scores.push_back(row.score);
    texts.numbers.push_back(row.number);
    texts.values.insert(texts.values.end(), row.values.begin(), row.values.end());
  }
  CLOZE_CHECK(std::ssize(texts.numbers) == std::ssize(texts.scores) * loss_.texts_per_sample,
              "{} texts of {} samples with {} each", texts.numbers.size(), texts.scores.size(),
              loss_.texts_per_sample);
  return texts;
}

double VectorGradients::compute(feed::StepInputs& inputs) {
  const Texts texts = gather(inputs);
  platform::enter_phase("comparing vectors");
  std::vector<float> gradients(texts.values.size());
  const double loss = loss_.compute({.texts = loss_.texts_per_sample,
                                     .dimensions = static_cast<int64_t>(texts.dimensions),
                                     .values = texts.values,
                                     .scores = texts.scores},
                                    gradients);
  const size_t width = texts.dimensions;
  std::vector<float> by_number(static_cast<size_t>(texts.numbers.back() + 1) * width);
  for (size_t i = 0; i < texts.numbers.size(); ++i) {
    const auto row = std::span(gradients).subspan(i * width, width);
    std::ranges::copy(row, by_number.begin() + texts.numbers[i] * std::ssize(row));
  }
  inputs.set_vector_gradients(std::move(by_number));
  return loss;
}

}  // namespace cloze::train
