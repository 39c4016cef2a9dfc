// The layout of a step: its sequences, and the micro-batches that compute them.
#pragma once

#include <cstdint>

#include "base/dtype.h"
#include "cli/run/run_options.h"
#include "formats/json.h"
#include "models/bert_config.h"

namespace cloze::cli {

struct BatchPlan {
  int64_t sequences_per_step = 0;
  int64_t tokens = 0;          // slots in a micro-batch
  int64_t sequences = 0;       // room in a micro-batch
  int64_t full_sequences = 0;  // of seq_length that a micro-batch holds
  int64_t micro_batches = 0;   // in a step of full sequences
};

// The tokens of a micro-batch that a card with so much memory has room for: the largest power of two
// for which what the layers keep for the backward pass, 16 numbers of this type for each hidden unit
// and token, takes at most seven tenths of it; at most 65,536. 0 where there is no room.
int64_t tokens_of_card(int64_t memory_bytes, const models::BertConfig& model, DType dtype);

// sequences_per_step = global_batch_size, or micro_batch_size * gradient_accumulation_count *
// replicas. tokens = tokens_per_micro_batch, or a 96th of a step of full sequences, but at least
// 1024 and at most the larger of micro_batch_size * seq_length and 4096; on a card as many as
// tokens_of_card() says, whatever the share. Rounding aside, the layout
// of a step changes only its time: smaller micro-batches waste a processor, and larger ones take
// more memory. There is room for eight times as many sequences as there would be full ones: unused
// places cost next to nothing, and where they run out token slots stay empty. With synthetic data
// `tokens` is lowered until a step is a whole number of micro-batches. UserError for a step of more
// sequences than 2^31 - 1.
BatchPlan batch_plan(const RunOptions& options);

// The sequences of a step of a configuration as a file has it.
int64_t sequences_of_a_step(const formats::Json& options);

}  // namespace cloze::cli
