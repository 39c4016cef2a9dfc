// What tests of `cloze pretrain`, `squad` and `glue` train in milliseconds.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "data/generated_dataset.h"
#include "data/records/record_encoder.h"
#include "formats/tfrecord.h"

namespace cloze::cli {

// Options of a model of one layer and 16 positions, and of a run that says nothing while it trains.
inline std::vector<std::string> small_run_words() {
  return {"--hidden-size=16",
          "--num-hidden-layers=1",
          "--num-attention-heads=2",
          "--intermediate-size=16",
          "--max-position-embeddings=16",
          "--seq-length=16",
          "--threads=1",
          "--progress-bar=false"};
}

// And of two steps of `cloze pretrain`, with a vocabulary of 61.
inline std::vector<std::string> small_pretraining_words(const std::string& save_path) {
  std::vector<std::string> words = small_run_words();
  words.insert(words.end(),
               {"--vocab-size=61", "--max-predictions-per-seq=3", "--micro-batch-size=4",
                "--warmup=0", "--num-train-steps=2", "--save-path=" + save_path});
  return words;
}

// 20 records for it.
inline void write_small_records(const std::filesystem::path& file, uint64_t seed) {
  const data::GeneratedDataset samples({.sequence_length = 16,
                                        .max_predictions = 3,
                                        .vocabulary_size = 61,
                                        .size = 20,
                                        .seed = seed});
  formats::TfRecordWriter writer(file);
  for (int64_t i = 0; i < samples.size(); ++i) {
    const std::string bytes =
        data::encode_record(samples.sample(i, 0), {.sequence_length = 16, .max_predictions = 3});
    writer.append(std::as_bytes(std::span(bytes)));
  }
  writer.commit();
}

}  // namespace cloze::cli
