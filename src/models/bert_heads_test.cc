// The table of heads: its rows name what the programs made of them have.
#include "models/bert_heads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace cloze::models {
namespace {

constexpr BatchShape kShape{.tokens = 16, .sequences = 3, .predictions = 5};

BertConfig small() {
  return {.vocab_size = 50,
          .hidden_size = 8,
          .num_hidden_layers = 1,
          .num_attention_heads = 2,
          .intermediate_size = 12,
          .max_position_embeddings = 16};
}

BertHead head_of(const HeadTraits& row) {
  BertHead head{.kind = row.kind};
  if (row.has_labels) head.labels = {"no", "perhaps", "yes", "certainly"};
  return head;
}

int64_t rows_of(OutputRows rows) {
  if (rows == OutputRows::kTokens) return kShape.tokens;
  return rows == OutputRows::kSequences ? kShape.sequences : kShape.predictions;
}

TEST(BertHeads, EachKindHasARowOfItsOwn) {
  for (size_t i = 0; i < all_heads().size(); ++i) {
    EXPECT_EQ(static_cast<size_t>(all_heads()[i].kind), i);
    EXPECT_EQ(&traits_of(all_heads()[i].kind), &all_heads()[i]);
  }
  for (const auto column : {&HeadTraits::name, &HeadTraits::architecture, &HeadTraits::pipeline,
                            &HeadTraits::endpoint}) {
    std::set<std::string_view> values;
    for (const HeadTraits& row : all_heads()) {
      if (column == &HeadTraits::endpoint && (row.*column).empty()) continue;
      EXPECT_FALSE((row.*column).empty()) << row.name;
      EXPECT_TRUE(values.insert(row.*column).second) << row.*column;
    }
  }
}

TEST(BertHeads, ClassWeightsMayRaiseAnUntrainedSmoothedLoss) {
  BertHead head = head_of(traits_of(HeadKind::kSequenceClassification));
  const double plain = *untrained_loss(small(), head);
  head.label_smoothing = 0.5;
  EXPECT_EQ(*untrained_loss(small(), head), plain);
  head.class_weights = {0.0f, 1.0f, 2.0f, 5.0f};
  EXPECT_DOUBLE_EQ(*untrained_loss(small(), head), plain * (0.5 + 0.5 * 2.0 / 1.0));
  head.label_smoothing = 0.0;
  EXPECT_EQ(*untrained_loss(small(), head), plain);
}

TEST(BertHeads, AClassOfTransformersIsReadAsOneHead) {
  for (const HeadTraits& row : all_heads()) {
    EXPECT_EQ(head_of_architecture(row.architecture), &row);
    for (const std::string_view other : row.also_read) {
      EXPECT_EQ(head_of_architecture(other), &row) << other;
    }
  }
  EXPECT_EQ(head_of_architecture("BertModel")->kind, HeadKind::kEmbedding);
  EXPECT_EQ(head_of_architecture("BertForNextSentencePrediction"), nullptr);
}

TEST(BertHeads, InferenceHasTheOutputsOfTheRow) {
  for (const HeadTraits& row : all_heads()) {
    const BertHead head = head_of(row);
    graph::Graph graph;
    bert_for_inference(graph, small(), head, kShape);
    ASSERT_EQ(graph.outputs().size(), row.outputs.size()) << row.name;
    for (const HeadOutput& output : row.outputs) {
      ASSERT_TRUE(graph.find(output.name)) << output.name;
      EXPECT_EQ(graph.type(*graph.find(output.name)).shape,
                (Shape{rows_of(output.rows), output.width(small(), head)}))
          << output.name;
    }
  }
}

// Tensors tell the head: the first row whose parameters are among them. Those of multiple choice are
// a regression's.
TEST(BertHeads, ParametersTellTheRow) {
  for (const HeadTraits& row : all_heads()) {
    if (row.kind == HeadKind::kMultipleChoice || row.parameters.empty()) continue;
    graph::Graph graph;
    bert_for_training(graph, small(), head_of(row), kShape);
    const auto has_any = [&](std::string_view start) {
      return std::ranges::any_of(graph.variables(graph::VariableRole::kParameter),
                                 [&](graph::Value value) {
                                   return std::as_const(graph).info(value).name.starts_with(start);
                                 });
    };
    EXPECT_TRUE(!row.needs_pooler || has_any("bert.pooler.")) << row.name;
    const auto has = [&](const HeadTraits& other) {
      return !other.parameters.empty() && has_any(other.parameters) &&
             (!other.needs_pooler || has_any("bert.pooler."));
    };
    const auto first = std::ranges::find_if(all_heads(), has);
    ASSERT_NE(first, all_heads().end()) << row.name;
    EXPECT_EQ(first->name, row.name);
  }
}

TEST(BertHeads, EachTermOfTheLossIsASoftmaxOfTheRow) {
  for (const HeadTraits& row : all_heads()) {
    const BertHead head = head_of(row);
    graph::Graph graph;
    EXPECT_EQ(bert_for_training(graph, small(), head, kShape).size(), row.softmax_classes.size())
        << row.name;
  }
}

TEST(BertHeads, EachLabelOfSeveralHasALogitAndAPrediction) {
  const BertHead head{.kind = HeadKind::kSequenceClassification,
                      .labels = {"sport", "money"},
                      .is_multi_label = true};
  EXPECT_FALSE(head.is_regression());
  EXPECT_FALSE(
      (BertHead{.kind = head.kind, .labels = {"sport"}, .is_multi_label = true}.is_regression()));
  EXPECT_FALSE((BertHead{.kind = HeadKind::kTokenClassification, .labels = {"X"}}.is_regression()));
  EXPECT_EQ(head.traits().prediction_room(head, 100, 7), 14);
  graph::Graph graph;
  const auto losses = bert_for_training(graph, small(), head, kShape);
  ASSERT_EQ(losses.size(), 1u);
  EXPECT_EQ(losses[0].name, "label");
  EXPECT_TRUE(losses[0].per_prediction);
  EXPECT_DOUBLE_EQ(untrained_loss({.initializer_range = 0.0}, head).value(), std::log(2.0));
}

TEST(BertHeads, WordsAreTiedWherePredictionsAreProjectedOntoThem) {
  EXPECT_TRUE(traits_of(HeadKind::kPretraining).predicts_words());
  EXPECT_FALSE(traits_of(HeadKind::kQuestionAnswering).predicts_words());
  EXPECT_FALSE(traits_of(HeadKind::kSequenceClassification).predicts_words());
}

}  // namespace
}  // namespace cloze::models
