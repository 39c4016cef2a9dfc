// Data sets and batches of cloze_runtime.h: samples of a token store, drawn and packed as pre-training does.
#include <algorithm>

#include "c_api/handles.h"
#include "data/loader.h"
#include "data/token_store/token_store_dataset.h"
#include "platform/available_threads.h"

struct cloze_dataset {
  std::shared_ptr<const cloze::data::TokenStoreDataset> shared;
  int64_t sequence_length;
  int64_t max_predictions;
  uint64_t seed;
};

struct cloze_batches {
  std::unique_ptr<cloze::data::Loader> loader;
  cloze::data::MicroBatch batch;  // of the latest call, its arrays cut to what is used
};

namespace {

using namespace cloze;
using namespace cloze::c_api;

constexpr int64_t kLongestSequence = 1 << 16, kMostSamples = 1 << 20;

void check_drawing(const cloze_drawing& drawing) {
  if (drawing.seq_length < 5 || drawing.seq_length > kLongestSequence) {
    throw_user_error("seq_length is {}; choose 5 to {}", drawing.seq_length, kLongestSequence);
  }
  if (drawing.max_predictions < 1 || drawing.max_predictions > drawing.seq_length) {
    throw_user_error("max_predictions is {}; choose 1 to the {} of seq_length",
                     drawing.max_predictions, drawing.seq_length);
  }
  if (!(drawing.mask_probability > 0 && drawing.mask_probability <= 1)) {
    throw_user_error("mask_probability is {}; choose more than 0, and at most 1",
                     drawing.mask_probability);
  }
  if (!(drawing.short_probability >= 0 && drawing.short_probability <= 1)) {
    throw_user_error("short_probability is {}; choose 0 to 1", drawing.short_probability);
  }
  if (drawing.next_sentence < CLOZE_NEXT_RANDOM || drawing.next_sentence > CLOZE_NEXT_NONE) {
    throw_user_error("next_sentence is {}; choose {} to {}", drawing.next_sentence,
                     int{CLOZE_NEXT_RANDOM}, int{CLOZE_NEXT_NONE});
  }
}

data::DrawingOptions options_of(const cloze_drawing& drawing) {
  constexpr data::NextSentence kForms[] = {data::NextSentence::kRandom, data::NextSentence::kOrder,
                                           data::NextSentence::kNone};
  return {.pairs = {.short_sequence_probability = drawing.short_probability,
                    .next_sentence = kForms[drawing.next_sentence],
                    .masking = {.sequence_length = drawing.seq_length,
                                .max_predictions = drawing.max_predictions,
                                .probability = drawing.mask_probability,
                                .whole_words = drawing.whole_words != 0}},
          .seed = drawing.seed};
}

const cloze_dataset& opened_dataset(const cloze_dataset* dataset) {
  return opened(dataset, "data set", "cloze_dataset_open");
}

// Room for a batch of the longest samples, so that it is one micro-batch.
data::LoaderOptions loading(const cloze_dataset& dataset, int64_t batch_size, int64_t first_batch,
                            int num_threads) {
  if (batch_size < 1 || batch_size > kMostSamples) {
    throw_user_error("batch_size is {}; choose 1 to {}", batch_size, kMostSamples);
  }
  if (first_batch < 0) throw_user_error("first_batch is {}; choose 0 or more", first_batch);
  return {.dataset = dataset.shared,
          .global_batch_size = batch_size,
          .capacity = {.tokens = batch_size * dataset.sequence_length,
                       .sequences = batch_size,
                       .predictions = batch_size * dataset.max_predictions},
          .seed = dataset.seed,
          .first_step = first_batch,
          .threads = platform::resolved_threads(num_threads)};
}

void cut_to_used(data::MicroBatch& batch) {
  data::for_each_field([&](const auto& field) {
    (batch.*field.values).resize(static_cast<size_t>(data::length_of(field.extent, batch.used())));
  });
}

const std::vector<int32_t>& integers_of(const data::MicroBatch& batch, std::string_view name) {
  const std::vector<int32_t>* found = nullptr;
  data::for_each_field([&](const auto& field) {
    if constexpr (std::is_same_v<decltype(field.values),
                                 std::vector<int32_t> data::MicroBatch::*>) {
      if (field.name == name) found = &(batch.*field.values);
    }
  });
  if (found == nullptr) throw_user_error("a batch has no numbers called \"{}\"", name);
  return *found;
}

}  // namespace

cloze_dataset* cloze_dataset_open(const char* store, const cloze_drawing* drawing) {
  return guarded<cloze_dataset*>(nullptr, [&] {
    if (store == nullptr || drawing == nullptr) throw_user_error("cloze_dataset_open got NULL");
    check_drawing(*drawing);
    auto opened_store = std::make_shared<const data::TokenStore>(store);
    return new cloze_dataset{std::make_shared<const data::TokenStoreDataset>(
                                 std::move(opened_store), options_of(*drawing)),
                             drawing->seq_length, drawing->max_predictions, drawing->seed};
  });
}

void cloze_dataset_close(cloze_dataset* dataset) { delete dataset; }

int64_t cloze_dataset_samples(const cloze_dataset* dataset) {
  return guarded<int64_t>(-1, [&] { return opened_dataset(dataset).shared->size(); });
}

cloze_batches* cloze_batches_open(const cloze_dataset* dataset, int64_t batch_size,
                                  int64_t first_batch, int num_threads) {
  return guarded<cloze_batches*>(nullptr, [&] {
    auto made = std::make_unique<cloze_batches>();
    made->loader = std::make_unique<data::Loader>(
        loading(opened_dataset(dataset), batch_size, first_batch, num_threads));
    return made.release();
  });
}

void cloze_batches_close(cloze_batches* batches) { delete batches; }

int cloze_batches_next(cloze_batches* batches) {
  return guarded(-1, [&] {
    cloze_batches& own = opened(batches, "loader of batches", "cloze_batches_open");
    data::StepBatch step = own.loader->next();
    CLOZE_CHECK(step.micro_batches.size() == 1, "{} micro-batches", step.micro_batches.size());
    own.batch = std::move(step.micro_batches.front());
    cut_to_used(own.batch);
    return 0;
  });
}

const int32_t* cloze_batches_numbers(const cloze_batches* batches, const char* name,
                                     int64_t* count) {
  return guarded<const int32_t*>(nullptr, [&] {
    const cloze_batches& own = opened(batches, "loader of batches", "cloze_batches_open");
    if (name == nullptr || count == nullptr) throw_user_error("cloze_batches_numbers got NULL");
    const std::vector<int32_t>& numbers = integers_of(own.batch, name);
    if (own.batch.num_sequences == 0)
      throw_user_error("there is no batch yet; call cloze_batches_next");
    *count = std::ssize(numbers);
    return numbers.data();
  });
}
