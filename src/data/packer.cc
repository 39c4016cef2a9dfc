#include "data/packer.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/division.h"
#include "base/error.h"

namespace cloze::data {
namespace {

// Each attempt uses one more micro-batch; if all fail, best fit is hardly worse.
constexpr size_t kSpreadAttempts = 4;

// The room that is left in a micro-batch, and the samples in it.
struct Bin {
  MicroBatchCapacity room;
  std::vector<size_t> samples;
};

int64_t tokens_of(const Sample& sample) { return static_cast<int64_t>(sample.input_ids.size()); }
int64_t predictions_of(const Sample& sample) {
  return static_cast<int64_t>(sample.masked_positions.size());
}

int64_t sequences_of(const Sample& sample) {
  return std::max<int64_t>(1, std::ssize(sample.choice_lengths));
}

bool fits(const Sample& sample, const MicroBatchCapacity& room) {
  return tokens_of(sample) <= room.tokens && sequences_of(sample) <= room.sequences &&
         predictions_of(sample) <= room.predictions;
}

void put(size_t index, const Sample& sample, Bin& bin) {
  bin.room.tokens -= tokens_of(sample);
  bin.room.sequences -= sequences_of(sample);
  bin.room.predictions -= predictions_of(sample);
  bin.samples.push_back(index);
}

// The bin of least or most room for tokens among those the sample fits into; null without one.
enum class Prefer { kLeastRoom, kMostRoom };
Bin* find_bin(const Sample& sample, std::vector<Bin>& bins, Prefer preference) {
  Bin* best = nullptr;
  for (Bin& bin : bins) {
    if (!fits(sample, bin.room)) continue;
    const bool is_better =
        best == nullptr || (preference == Prefer::kLeastRoom ? bin.room.tokens < best->room.tokens
                                                             : bin.room.tokens > best->room.tokens);
    if (is_better) best = &bin;
  }
  return best;
}

std::vector<size_t> longest_first(std::span<const Sample> samples) {
  std::vector<size_t> order(samples.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return tokens_of(samples[a]) > tokens_of(samples[b]);
  });
  return order;
}

void expect_fitting(std::span<const Sample> samples, const MicroBatchCapacity& capacity) {
  for (const Sample& sample : samples) {
    if (fits(sample, capacity)) continue;
    throw_user_error(
        "a sample of {} tokens, {} sequences and {} predictions does not fit into a micro-batch of "
        "{} tokens, {} sequences and {} predictions; raise its capacity or make shorter records",
        tokens_of(sample), sequences_of(sample), predictions_of(sample), capacity.tokens,
        capacity.sequences, capacity.predictions);
  }
}

// No packing has fewer bins.
size_t fewest_bins(std::span<const Sample> samples, const MicroBatchCapacity& capacity) {
  const auto bins_for = [](int64_t total, int64_t room) {
    return room > 0 ? divide_up(total, room) : 0;
  };
  int64_t tokens = 0, sequences = 0, predictions = 0;
  for (const Sample& sample : samples) {
    tokens += tokens_of(sample);
    sequences += sequences_of(sample);
    predictions += predictions_of(sample);
  }
  return static_cast<size_t>(
      std::max({bins_for(tokens, capacity.tokens), bins_for(sequences, capacity.sequences),
                bins_for(predictions, capacity.predictions)}));
}

std::vector<Bin> best_fit(std::span<const Sample> samples, std::span<const size_t> order,
                          const MicroBatchCapacity& capacity) {
  std::vector<Bin> bins;
  for (const size_t index : order) {
    Bin* bin = find_bin(samples[index], bins, Prefer::kLeastRoom);
    if (bin == nullptr) bin = &bins.emplace_back(Bin{.room = capacity, .samples = {}});
    put(index, samples[index], *bin);
  }
  return bins;
}

// The longer half spread over `num_bins`, the shorter half into the gaps; nothing if it fails.
std::optional<std::vector<Bin>> spread(std::span<const Sample> samples,
                                       std::span<const size_t> order,
                                       const MicroBatchCapacity& capacity, size_t num_bins) {
  std::vector<Bin> bins(num_bins, Bin{.room = capacity, .samples = {}});
  for (size_t i = 0; i < order.size(); ++i) {
    const Sample& sample = samples[order[i]];
    Bin* bin =
        find_bin(sample, bins, 2 * i < order.size() ? Prefer::kMostRoom : Prefer::kLeastRoom);
    if (bin == nullptr) return std::nullopt;
    put(order[i], sample, *bin);
  }
  std::erase_if(bins, [](const Bin& bin) { return bin.samples.empty(); });
  return bins;
}

std::vector<Bin> assign(std::span<const Sample> samples, const MicroBatchCapacity& capacity) {
  expect_fitting(samples, capacity);
  const std::vector<size_t> order = longest_first(samples);
  std::vector<Bin> bins = best_fit(samples, order, capacity);
  const size_t fewest = fewest_bins(samples, capacity);
  for (size_t tried = fewest; tried < std::min(bins.size(), fewest + kSpreadAttempts); ++tried) {
    if (auto found = spread(samples, order, capacity, tried)) {
      bins = std::move(*found);
      break;
    }
  }
  for (Bin& bin : bins) std::sort(bin.samples.begin(), bin.samples.end());
  return bins;
}

// Copies what the sample says of itself to where the batch ends.
void copy_fields(const Sample& sample, MicroBatch& batch) {
  for_each_field([&]<typename T>(const MicroBatchField<T>& field) {
    const std::span<const T> values = field.values_of(sample);
    if (values.empty()) return;
    const auto target = (batch.*field.values).begin() + length_of(field.extent, batch.used());
    std::ranges::copy(values, target);
    if (!field.is_slot) return;
    for (T& slot : std::span(target, values.size())) {
      if (slot >= 0) slot += static_cast<T>(batch.num_tokens);
    }
  });
}

void append_sequence(int64_t length, size_t ordinal, MicroBatch& batch) {
  const auto [start, sequence, first_prediction] = batch.used();
  const auto positions = batch.position_ids.begin() + start;
  std::iota(positions, positions + length, 0);
  std::fill_n(batch.sample_ids.begin() + start, length, static_cast<int32_t>(ordinal));
  batch.sequence_starts[sequence] = static_cast<int32_t>(start);
  batch.first_tokens[sequence] = static_cast<int32_t>(start);
  batch.sequence_ids[sequence] = static_cast<int32_t>(ordinal);
  batch.num_tokens += length;
  batch.num_sequences += 1;
}

// sequence_weight: the weight of the sample's mean; ordinal: that of its first sequence.
void append(const Sample& sample, size_t ordinal, double sequence_weight, MicroBatch& batch) {
  const int64_t first_prediction = batch.num_predictions, predictions = predictions_of(sample);
  copy_fields(sample, batch);
  const double weight = sequence_weight / static_cast<double>(predictions);
  std::fill_n(batch.prediction_weights.begin() + first_prediction, predictions,
              static_cast<float>(weight));
  if (sample.choice_lengths.empty()) {
    append_sequence(tokens_of(sample), ordinal, batch);
  } else {
    std::fill_n(batch.num_choices.begin() + first_prediction, predictions,
                static_cast<int32_t>(sequences_of(sample)));
    for (const int32_t length : sample.choice_lengths) append_sequence(length, ordinal++, batch);
  }
  batch.num_predictions += predictions;
}

// The number in the step of the first sequence of each sample.
std::vector<size_t> first_ordinals(std::span<const Sample> samples) {
  std::vector<size_t> ordinals;
  ordinals.reserve(samples.size());
  size_t next = 0;
  for (const Sample& sample : samples) {
    ordinals.push_back(next);
    next += static_cast<size_t>(sequences_of(sample));
  }
  return ordinals;
}

}  // namespace

StepBatch pack(std::span<const Sample> samples, const MicroBatchCapacity& capacity) {
  const auto predicting = std::ranges::count_if(
      samples, [](const Sample& sample) { return predictions_of(sample) > 0; });
  const double sequence_weight = 1.0 / static_cast<double>(std::max<int64_t>(predicting, 1));
  const std::vector<size_t> ordinals = first_ordinals(samples);
  StepBatch step{.num_samples = std::ssize(samples)};
  for (const Bin& bin : assign(samples, capacity)) {
    MicroBatch& batch = step.micro_batches.emplace_back(empty_micro_batch(capacity));
    for (size_t index : bin.samples) {
      append(samples[index], ordinals[index], sequence_weight, batch);
    }
    std::fill(batch.sequence_starts.begin() + batch.num_sequences, batch.sequence_starts.end(),
              static_cast<int32_t>(batch.num_tokens));
    step.num_tokens += batch.num_tokens;
    step.num_sequences += batch.num_sequences;
    step.num_predictions += batch.num_predictions;
  }
  return step;
}

}  // namespace cloze::data
