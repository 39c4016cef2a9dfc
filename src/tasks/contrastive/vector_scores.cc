#include "tasks/contrastive/vector_scores.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>
#include <utility>

#include "tasks/dot_product.h"
#include "tasks/label_scores.h"

namespace cloze::tasks {
namespace {

constexpr int64_t kRecalls[] = {1, 5, 10};
constexpr int64_t kDeepest = 10;  // rank that mrr and ndcg look at

double cosine_of(const UnitVectors& vectors, int32_t one, int32_t other) {
  return dot_product<float>(vectors[static_cast<size_t>(one)], vectors[static_cast<size_t>(other)]);
}

// The texts that queries look among, and where each stands.
struct Collection {
  std::vector<int32_t> texts;
  std::unordered_map<int32_t, size_t> place;
};

Collection collection_of(const DistinctTexts& distinct) {
  Collection collection;
  for (const std::vector<int32_t>& row : distinct.of_row) {
    for (size_t i = 1; i < row.size(); ++i) {
      if (collection.place.emplace(row[i], collection.texts.size()).second) {
        collection.texts.push_back(row[i]);
      }
    }
  }
  return collection;
}

// By place in the collection, the rank of each text for a query, from 1.
std::vector<int64_t> ranks_for(int32_t query, const Collection& collection,
                               const UnitVectors& vectors) {
  std::vector<double> cosines;
  for (const int32_t text : collection.texts) cosines.push_back(cosine_of(vectors, query, text));
  std::vector<size_t> order(cosines.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return cosines[a] > cosines[b]; });
  std::vector<int64_t> ranks(order.size());
  for (size_t i = 0; i < order.size(); ++i) ranks[order[i]] = static_cast<int64_t>(i) + 1;
  return ranks;
}

double gain(int64_t rank) { return 1.0 / std::log2(static_cast<double>(rank) + 1.0); }

// Sums over queries, by the name of the score.
class RetrievalSums {
 public:
  // The ranks of all that is relevant for a query.
  void add(std::vector<int64_t> relevant) {
    std::ranges::sort(relevant);
    ++queries_;
    double gains = 0.0, most_gains = 0.0;
    for (const int64_t rank : relevant) gains += rank <= kDeepest ? gain(rank) : 0.0;
    for (int64_t i = 1; i <= std::min(kDeepest, std::ssize(relevant)); ++i) most_gains += gain(i);
    ndcg_ += gains / most_gains;
    mrr_ += relevant.front() <= kDeepest ? 1.0 / static_cast<double>(relevant.front()) : 0.0;
    for (const int64_t k : kRecalls) {
      const auto found = std::ranges::count_if(relevant, [&](int64_t rank) { return rank <= k; });
      recalls_[k] += static_cast<double>(found) / static_cast<double>(relevant.size());
    }
  }

  NamedScores scores() const {
    NamedScores named;
    const auto add = [&](std::string name, double sum) {
      const double mean = sum / static_cast<double>(queries_);
      named.all[name] = mean;
      named.printed.emplace_back(std::move(name), mean);
    };
    add(fmt::format("ndcg@{}", kDeepest), ndcg_);
    add(fmt::format("mrr@{}", kDeepest), mrr_);
    for (const auto& [k, sum] : recalls_) add(fmt::format("recall@{}", k), sum);
    return named;
  }

 private:
  int64_t queries_ = 0;
  double ndcg_ = 0.0, mrr_ = 0.0;
  std::map<int64_t, double> recalls_;
};

}  // namespace

DistinctTexts distinct_texts(std::span<const TextTuple> rows) {
  DistinctTexts distinct;
  std::unordered_map<std::string_view, int32_t> numbers;
  for (const TextTuple& row : rows) {
    std::vector<int32_t>& own = distinct.of_row.emplace_back();
    for (const std::string& text : row.texts) {
      const auto number = static_cast<int32_t>(distinct.texts.size());
      const auto [place, is_new] = numbers.emplace(text, number);
      if (is_new) distinct.texts.push_back(text);
      own.push_back(place->second);
    }
  }
  return distinct;
}

VectorScores similarity_scores(std::span<const TextTuple> rows, const DistinctTexts& distinct,
                               const UnitVectors& vectors) {
  VectorScores made;
  std::vector<double> cosines, scores;
  for (size_t i = 0; i < rows.size(); ++i) {
    cosines.push_back(cosine_of(vectors, distinct.of_row[i][0], distinct.of_row[i][1]));
    scores.push_back(rows[i].score);
    made.rows.push_back({.cosine = cosines.back()});
  }
  made.scores.printed = {{"spearman", spearman(cosines, scores)},
                         {"pearson", pearson(cosines, scores)}};
  for (const auto& [name, value] : made.scores.printed) made.scores.all[name] = value;
  return made;
}

VectorScores retrieval_scores(const DistinctTexts& distinct, const UnitVectors& vectors) {
  const Collection collection = collection_of(distinct);
  std::map<int32_t, std::vector<size_t>> rows_of;  // of each query
  for (size_t i = 0; i < distinct.of_row.size(); ++i) rows_of[distinct.of_row[i][0]].push_back(i);
  VectorScores made;
  made.rows.resize(distinct.of_row.size());
  RetrievalSums sums;
  for (const auto& [query, rows] : rows_of) {
    const std::vector<int64_t> ranks = ranks_for(query, collection, vectors);
    std::set<int64_t> relevant;
    for (const size_t row : rows) {
      const int32_t positive = distinct.of_row[row][1];
      const int64_t rank = ranks[collection.place.at(positive)];
      made.rows[row] = {.cosine = cosine_of(vectors, query, positive), .rank = rank};
      relevant.insert(rank);
    }
    sums.add({relevant.begin(), relevant.end()});
  }
  made.scores = sums.scores();
  return made;
}

}  // namespace cloze::tasks
