#include "data/dataset.h"

#include "data/micro_batch.h"
#include "formats/xxh3.h"

namespace cloze::data {
namespace {

template <typename T>
void update(formats::Xxh3Digest& digest, const T* values, size_t count) {
  digest.update({reinterpret_cast<const char*>(values), count * sizeof(T)});
}

void update(formats::Xxh3Digest& digest, const Sample& sample) {
  for_each_field([&]<typename T>(const MicroBatchField<T>& field) {
    const std::span<const T> values = field.values_of(sample);
    const size_t size = values.size();
    // A list comes with its length, so that two lists are not taken for one.
    if (field.is_list()) update(digest, &size, 1);
    update(digest, values.data(), size);
  });
  // Only samples of several sequences have these: the others keep their digest.
  update(digest, sample.choice_lengths.data(), sample.choice_lengths.size());
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
