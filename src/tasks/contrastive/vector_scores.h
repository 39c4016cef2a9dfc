// Scores of vectors of texts, as shares of 1.
//
// Pairs with scores (semantic textual similarity):
//   spearman, pearson   of the pairs' cosines with their scores (tasks/label_scores.h)
//
// Pairs that belong together (retrieval): each distinct anchor is a query. The collection is all
// distinct other texts of the pairs, ordered by their cosine with the query, equal ones as they come.
// Its positives are relevant, R of them; rank 1 is the first:
//   recall@k            share of R among the first k
//   mrr@10              1 / rank of the first relevant one among the first 10; else 0
//   ndcg@10             sum over relevant ranks r <= 10 of 1 / log2(r + 1), divided by the most that
//                       R relevant ones can have
// each the mean over the queries.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tasks/contrastive/text_tuples.h"
#include "tasks/finetuning_task.h"

namespace cloze::tasks {

// The texts of a table, each once, and where its rows have them.
struct DistinctTexts {
  std::vector<std::string> texts;            // in the order of their first use
  std::vector<std::vector<int32_t>> of_row;  // numbers in `texts`
};
DistinctTexts distinct_texts(std::span<const TextTuple> rows);

// Vectors of length 1, one for each distinct text.
using UnitVectors = std::vector<std::vector<float>>;

// A row that was scored.
struct ScoredTuple {
  double cosine = 0.0;  // of its first two texts
  int64_t rank = 0;     // of its second text among the collection, for its first; 0: not ranked
};
struct VectorScores {
  NamedScores scores;
  std::vector<ScoredTuple> rows;
};

VectorScores similarity_scores(std::span<const TextTuple> rows, const DistinctTexts& distinct,
                               const UnitVectors& vectors);
VectorScores retrieval_scores(const DistinctTexts& distinct, const UnitVectors& vectors);

}  // namespace cloze::tasks
