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

bool fits(const Sample& sample, const MicroBatchCapacity& room) {
  return tokens_of(sample) <= room.tokens && room.sequences >= 1 &&
         predictions_of(sample) <= room.predictions;
}

void put(size_t index, const Sample& sample, Bin& bin) {
  bin.room.tokens -= tokens_of(sample);
  bin.room.sequences -= 1;
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
        "a sample of {} tokens and {} predictions does not fit into a micro-batch of {} tokens, "
        "{} sequences and {} predictions; raise its capacity or make shorter records",
        tokens_of(sample), predictions_of(sample), capacity.tokens, capacity.sequences,
        capacity.predictions);
  }
}

// No packing has fewer bins.
size_t fewest_bins(std::span<const Sample> samples, const MicroBatchCapacity& capacity) {
  const auto bins_for = [](int64_t total, int64_t room) {
    return room > 0 ? divide_up(total, room) : 0;
  };
  int64_t tokens = 0, predictions = 0;
  for (const Sample& sample : samples) {
    tokens += tokens_of(sample);
    predictions += predictions_of(sample);
  }
  return static_cast<size_t>(std::max({bins_for(tokens, capacity.tokens),
                                       bins_for(std::ssize(samples), capacity.sequences),
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

// Appends the labels of the whole sequence, which begins after the batch's last token.
void append_labels(const Sample& sample, size_t ordinal, MicroBatch& batch) {
  const auto sequence = static_cast<size_t>(batch.num_sequences);
  const auto slot_of = [&](int32_t position) {
    return position < 0 ? -1 : static_cast<int32_t>(batch.num_tokens) + position;
  };
  batch.sequence_ids[sequence] = static_cast<int32_t>(ordinal);
  batch.next_sentence_labels[sequence] = sample.next_sentence_label;
  batch.class_labels[sequence] = sample.class_label;
  batch.scores[sequence] = sample.score;
  batch.start_positions[sequence] = slot_of(sample.start_position);
  batch.end_positions[sequence] = slot_of(sample.end_position);
}

// sequence_weight: the weight of the sequence's mean.
void append_predictions(const Sample& sample, double sequence_weight, MicroBatch& batch) {
  const auto predictions = static_cast<double>(predictions_of(sample));
  for (size_t i = 0; i < sample.masked_positions.size(); ++i) {
    const auto place = static_cast<size_t>(batch.num_predictions) + i;
    batch.masked_positions[place] =
        static_cast<int32_t>(batch.num_tokens) + sample.masked_positions[i];
    batch.masked_labels[place] = sample.masked_labels[i];
    batch.prediction_weights[place] = static_cast<float>(sequence_weight / predictions);
  }
  batch.num_predictions += predictions_of(sample);
}

void append(const Sample& sample, size_t ordinal, MicroBatch& batch) {
  const auto start = batch.num_tokens;
  const auto length = tokens_of(sample);
  const auto sequence = static_cast<size_t>(batch.num_sequences);
  std::copy(sample.input_ids.begin(), sample.input_ids.end(), batch.input_ids.begin() + start);
  std::copy(sample.token_type_ids.begin(), sample.token_type_ids.end(),
            batch.token_type_ids.begin() + start);
  const auto positions = batch.position_ids.begin() + start;
  std::iota(positions, positions + length, 0);
  std::fill_n(batch.sample_ids.begin() + start, length, static_cast<int32_t>(ordinal));
  batch.sequence_starts[sequence] = static_cast<int32_t>(start);
  batch.first_tokens[sequence] = static_cast<int32_t>(start);
  append_labels(sample, ordinal, batch);
  batch.num_tokens += length;
  batch.num_sequences += 1;
}

}  // namespace

StepBatch pack(std::span<const Sample> samples, const MicroBatchCapacity& capacity) {
  const auto predicting = std::ranges::count_if(
      samples, [](const Sample& sample) { return predictions_of(sample) > 0; });
  const double sequence_weight = 1.0 / static_cast<double>(std::max<int64_t>(predicting, 1));
  StepBatch step;
  for (const Bin& bin : assign(samples, capacity)) {
    MicroBatch& batch = step.micro_batches.emplace_back(empty_micro_batch(capacity));
    for (size_t index : bin.samples) {
      append_predictions(samples[index], sequence_weight, batch);
      append(samples[index], index, batch);
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
