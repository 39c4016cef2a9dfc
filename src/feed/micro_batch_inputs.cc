#include "feed/micro_batch_inputs.h"

#include <algorithm>

#include "base/error.h"

namespace cloze::feed {
namespace {

// As many as the session has slots for.
template <typename T>
void write_slots(engine::Session& session, const char* name, const std::vector<T>& values) {
  if (!session.has(name)) return;
  const int64_t slots = session.graph().type(session.value(name)).shape.elements();
  CLOZE_CHECK(slots <= std::ssize(values), "{}: {} slots for {} values", name, slots,
              values.size());
  session.write<T>(name, std::span(values).first(static_cast<size_t>(slots)));
}

}  // namespace

void require_rows(std::span<const int32_t> ids, int64_t rows, std::string_view what) {
  const auto bad = std::ranges::find_if(ids, [&](int32_t id) { return id < 0 || id >= rows; });
  if (bad != ids.end()) throw_user_error("{} {}; the model has 0 to {}", what, *bad, rows - 1);
}

void write_micro_batch(engine::Session& session, const data::MicroBatch& batch) {
  const std::pair<const char*, const std::vector<int32_t>*> inputs[] = {
      {"input_ids", &batch.input_ids},
      {"token_type_ids", &batch.token_type_ids},
      {"position_ids", &batch.position_ids},
      {"sample_ids", &batch.sample_ids},
      {"sequence_starts", &batch.sequence_starts},
      {"first_tokens", &batch.first_tokens},
      {"masked_positions", &batch.masked_positions},
      {"masked_labels", &batch.masked_labels},
      {"next_sentence_labels", &batch.next_sentence_labels},
      {"sequence_ids", &batch.sequence_ids},
      {"class_labels", &batch.class_labels},
      {"start_positions", &batch.start_positions},
      {"end_positions", &batch.end_positions}};
  for (const auto& [name, values] : inputs) write_slots(session, name, *values);
  write_slots(session, "scores", batch.scores);
  write_slots(session, "prediction_weights", batch.prediction_weights);
}

}  // namespace cloze::feed
