// A run that trains in milliseconds, for tests of the loop: 8 sequences in a step, in two or more
// micro-batches. A test changes what it is about.
#pragma once

#include <filesystem>
#include <memory>

#include "data/generated_dataset.h"
#include "small_model.h"
#include "train/training.h"

namespace cloze::tests {

inline train::TrainingOptions small_run(DType dtype, int64_t num_steps,
                                        const std::filesystem::path& save_path) {
  return {.step = {.model = as_tested({.vocab_size = 61,
                                       .hidden_size = 16,
                                       .num_hidden_layers = 2,
                                       .num_attention_heads = 2,
                                       .intermediate_size = 24,
                                       .max_position_embeddings = 16}),
                   .capacity = {.tokens = 40, .sequences = 4, .predictions = 12},
                   .optimizer = {.name = "adamw", .use_debiasing = true},
                   .compute_dtype = dtype,
                   .seed = 3,
                   .compile = {.device = tested_device(), .target = {.threads = 2}}},
          .dataset = std::make_shared<data::GeneratedDataset>(data::GeneratedOptions{
              .sequence_length = 12, .max_predictions = 3, .vocabulary_size = 61, .size = 50}),
          .global_batch_size = 8,
          .num_steps = num_steps,
          .schedule = {.base_learning_rate = 0.01, .warmup_steps = 2, .total_steps = 12},
          .save_path = save_path,
          .steps_per_checkpoint = 100};
}

}  // namespace cloze::tests
