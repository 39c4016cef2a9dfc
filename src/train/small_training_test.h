// A run that trains in milliseconds, for the tests of this room.
#pragma once

#include <filesystem>
#include <memory>

#include "data/generated_dataset.h"
#include "train/training.h"

namespace cloze::train {

// Of the shape of the models in tests/fixtures/tf_checkpoint.
inline TrainingOptions small_training(const std::filesystem::path& save_path,
                                      comm::Communicator& ranks = comm::alone()) {
  return {.step = {.model = {.vocab_size = 22,
                             .hidden_size = 4,
                             .num_hidden_layers = 2,
                             .num_attention_heads = 2,
                             .intermediate_size = 8,
                             .max_position_embeddings = 16},
                   .capacity = {.tokens = 96, .sequences = 8, .predictions = 24},
                   .optimizer = {.name = "adamw"},
                   .seed = 3,
                   .compile = {.target = {.threads = 1}},
                   .ranks = &ranks},
          .dataset = std::make_shared<data::GeneratedDataset>(data::GeneratedOptions{
              .sequence_length = 12, .max_predictions = 3, .vocabulary_size = 22, .size = 50}),
          .global_batch_size = 8,
          .num_steps = 2,
          .schedule = {.name = "constant", .base_learning_rate = 0.01},
          .save_path = save_path};
}

}  // namespace cloze::train
