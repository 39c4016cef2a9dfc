#include "data/micro_batch.h"

namespace cloze::data {

int64_t length_of(FieldExtent extent, const MicroBatchCapacity& capacity) {
  switch (extent) {
    case FieldExtent::kTokens:
      return capacity.tokens;
    case FieldExtent::kSequences:
      return capacity.sequences;
    case FieldExtent::kSequenceBorders:
      return capacity.sequences + 1;
    case FieldExtent::kPredictions:
      return capacity.predictions;
  }
  return 0;
}

int64_t MicroBatchCapacity::bytes() const {
  int64_t bytes = 0;
  for_each_field([&]<typename T>(const MicroBatchField<T>& field) {
    bytes += length_of(field.extent, *this) * int64_t{sizeof(T)};
  });
  return bytes;
}

MicroBatch empty_micro_batch(const MicroBatchCapacity& capacity) {
  MicroBatch batch;
  for_each_field([&](const auto& field) {
    const auto length = static_cast<size_t>(length_of(field.extent, capacity));
    (batch.*field.values).assign(length, field.unused);
  });
  return batch;
}

}  // namespace cloze::data
