// embedding: the sum of word, token type and position embeddings.
//
//   y[t] = word[input_ids[t]] + token_type[token_type_ids[t]] + position[position_ids[t]]
//
// Inputs:  input_ids, token_type_ids, position_ids  [T] i32
//          word [V, H], token_type [types, H], position [positions, H]   f32
//          sequence_starts [B+1] i32, not used here: it is for the gradient
// Outputs: y [T, H]  dtype of the attributes
// Ids are inside their tables: the reader of the data has checked them.
//
// embedding_gradient adds dy to the rows that were read.
// Inputs:  dy [T, H], input_ids, token_type_ids, position_ids [T], sequence_starts [B+1] i32
// Outputs: dword, dtoken_type, dposition  f32, shapes of the tables (dense, zero elsewhere)
// Slots after the last sequence (t >= sequence_starts[B]) are left out.
#pragma once

#include "graph/graph.h"

namespace cloze::ops {

struct EmbeddingAttributes {
  DType output_dtype = DType::kF32;
};

struct EmbeddingGradientAttributes {
  int64_t vocabulary = 0;
  int64_t types = 0;
  int64_t positions = 0;
};

struct Embedding {
  enum Input {
    kInputIds,
    kTokenTypeIds,
    kPositionIds,
    kWord,
    kTokenType,
    kPosition,
    kSequenceStarts
  };
  enum Output { kY };
};
struct EmbeddingGradient {
  enum Input { kDy, kInputIds, kTokenTypeIds, kPositionIds, kSequenceStarts };
  enum Output { kDword, kDtokenType, kDposition };
};

extern const graph::OpDefinition kEmbedding;
extern const graph::OpDefinition kEmbeddingGradient;

struct EmbeddingInputs {
  graph::Value input_ids, token_type_ids, position_ids;  // [T] i32
  graph::Value word;                                     // [V, H]
  graph::Value token_type;                               // [types, H]
  graph::Value position;                                 // [positions, H]
  graph::Value sequence_starts;                          // [B+1] i32, for the gradient only
};
graph::Value embedding(graph::Graph& graph, const EmbeddingInputs& in);

}  // namespace cloze::ops
