#include "tasks/squad/squad_records.h"

#include <array>
#include <string>

#include "base/error.h"
#include "formats/tf_example.h"
#include "formats/tfrecord.h"

namespace cloze::tasks {
namespace {

constexpr int32_t kFirstUniqueId = 1'000'000'000;
constexpr int32_t kPadding = 0;

void add_one(formats::TfExample& example, std::string_view name, int32_t value) {
  example.add_integers(name, std::array{value});
}

formats::TfExample example_of(const data::Sample& sample, int32_t unique_id,
                              size_t sequence_length) {
  CLOZE_CHECK(sample.input_ids.size() <= sequence_length, "sequence of {} tokens in a record of {}",
              sample.input_ids.size(), sequence_length);
  std::vector<int32_t> ids = sample.input_ids, mask(ids.size(), 1), types = sample.token_type_ids;
  for (std::vector<int32_t>* values : {&ids, &mask, &types}) {
    values->resize(sequence_length, kPadding);
  }
  formats::TfExample example;
  add_one(example, "unique_ids", unique_id);
  example.add_integers("input_ids", ids);
  example.add_integers("input_mask", mask);
  example.add_integers("segment_ids", types);
  return example;
}

}  // namespace

void write_squad_records(const std::filesystem::path& path, const SquadData& data,
                         const SquadFeatures& features, int64_t sequence_length) {
  formats::TfRecordWriter writer(path);
  int32_t unique_id = kFirstUniqueId;
  for (const SquadWindow& window : features.windows) {
    const data::Sample sample = squad_sample(data, features, window);
    formats::TfExample example =
        example_of(sample, unique_id++, static_cast<size_t>(sequence_length));
    if (window.start_position >= 0) {
      add_one(example, "start_positions", window.start_position);
      add_one(example, "end_positions", window.end_position);
      add_one(example, "is_impossible", data.questions[window.question].is_impossible ? 1 : 0);
    }
    const std::string payload = example.serialize();
    writer.append(std::as_bytes(std::span(payload)));
  }
  writer.commit();
}

}  // namespace cloze::tasks
