#include "data/dataset.h"

#include "formats/xxh3.h"

namespace cloze::data {
namespace {

template <typename T>
void update(formats::Xxh3Digest& digest, const T* values, size_t count) {
  digest.update({reinterpret_cast<const char*>(values), count * sizeof(T)});
}

// Adds a list with its length, so that two lists are not taken for one.
void update(formats::Xxh3Digest& digest, const std::vector<int32_t>& values) {
  const size_t size = values.size();
  update(digest, &size, 1);
  update(digest, values.data(), size);
}

void update(formats::Xxh3Digest& digest, const Sample& sample) {
  for (const auto* list : {&sample.input_ids, &sample.token_type_ids, &sample.masked_positions,
                           &sample.masked_labels}) {
    update(digest, *list);
  }
  const int32_t labels[] = {sample.next_sentence_label, sample.class_label, sample.start_position,
                            sample.end_position};
  update(digest, labels, std::size(labels));
  update(digest, &sample.score, 1);
}

}  // namespace

std::string sample_digest(const Dataset& dataset) {
  formats::Xxh3Digest digest;
  for (int64_t i = 0; i < dataset.size(); ++i) update(digest, dataset.sample(i, 0));
  return digest.hex();
}

std::string sample_digest(std::span<const Sample> samples) {
  formats::Xxh3Digest digest;
  for (const Sample& sample : samples) update(digest, sample);
  return digest.hex();
}

}  // namespace cloze::data
