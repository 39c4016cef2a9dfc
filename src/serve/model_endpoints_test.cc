#include "serve/model_endpoints.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "models/bert_heads.h"
#include "serve/made_up_model_test.h"

namespace cloze::serve {
namespace {

namespace fs = std::filesystem;
using formats::Json;

// What the model says under our own endpoint.
std::vector<Json> values(const ServedModel& model, std::span<const Input> inputs) {
  std::vector<Json> values;
  for (Answer& answer : model.head.handler(inputs)) values.push_back(std::move(answer.value));
  return values;
}

double sum_of_probabilities(const Json& list) {
  double sum = 0.0;
  double last = 1.0;
  for (const Json& one : list) {
    const auto probability = one.at("probability").get<double>();
    EXPECT_LE(probability, last);  // the most probable first
    last = probability;
    sum += probability;
  }
  return sum;
}

TEST(ModelEndpoints, EveryHeadHasOneUnderThePathOfItsRow) {
  for (const models::HeadTraits& head : models::all_heads()) {
    if (head.endpoint.empty()) continue;
    models::BertHead made{.kind = head.kind};
    if (head.has_labels) made.labels = {"no", "yes"};
    const ServedModel model = MadeUpModel(made).serve();
    EXPECT_EQ(model.head.form.path, head.endpoint);
    EXPECT_EQ(model.endpoints[0].path, head.endpoint);
    EXPECT_TRUE(model.head.handler) << head.name;
    EXPECT_EQ(model.description.at("head").get<std::string>(), head.name);
  }
}

TEST(ModelEndpoints, OnlyQuestionsMayHaveNoAnswer) {
  const MadeUpModel made_up({.kind = models::HeadKind::kPretraining});
  EXPECT_THROW(made_up.serve(/*may_have_no_answer=*/true), UserError);
}

TEST(ModelEndpoints, APretrainedModelFillsBlanks) {
  const MadeUpModel made_up({.kind = models::HeadKind::kPretraining});
  const ServedModel model = made_up.serve();
  EXPECT_EQ(model.description.at("head"), "pre-training");
  EXPECT_EQ(model.description.at("name"), "model_endpoints_test");
  EXPECT_EQ(model.head.form.path, "/fill");
  const std::vector<Input> inputs = {{.first = "the [MASK] lies on a [MASK] .", .top_k = 12},
                                     {.first = "a [MASK] .", .top_k = 2}};
  const auto outputs = values(model, inputs);
  ASSERT_EQ(outputs.size(), 2u);
  ASSERT_EQ(outputs[0].at("blanks").size(), 2u);
  const Json& candidates = outputs[0]["blanks"][1]["candidates"];
  EXPECT_EQ(candidates.size(), 12u);
  EXPECT_NEAR(sum_of_probabilities(candidates), 1.0, 1e-9);
  EXPECT_EQ(outputs[1]["blanks"][0]["candidates"].size(), 2u);
  EXPECT_EQ(outputs[0]["blanks"][0]["start"], 4);
  EXPECT_EQ(outputs[0]["blanks"][0]["end"], 10);
  EXPECT_EQ(outputs[0]["blanks"][1]["start"], 21);
  const std::vector<Input> accents = {{.first = "\u00e9\u6f22 [MASK]"}};
  EXPECT_EQ(values(model, accents)[0]["blanks"][0]["start"], 3) << "code points";
  const std::vector<Input> no_utf8 = {{.first = "\x92\xe9 [MASK]"}};
  EXPECT_EQ(values(model, no_utf8)[0]["blanks"][0]["start"], 3) << "and errors";
  EXPECT_THROW(values(model, std::vector<Input>{{.first = "a town"}}), UserError);
}

TEST(ModelEndpoints, AModelForQuestionsAnswersThem) {
  const MadeUpModel made_up({.kind = models::HeadKind::kQuestionAnswering});
  const ServedModel model = made_up.serve();
  EXPECT_EQ(model.head.form.path, "/answer");
  const std::string context = "the town lies on the river .";
  const std::vector<Input> inputs = {{.first = "the town ?", .second = context, .top_k = 3}};
  const Json answers = values(model, inputs)[0].at("answers");
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_LE(sum_of_probabilities(answers), 1.0);
  for (const Json& one : answers) {
    const auto start = one.at("start").get<size_t>(), end = one.at("end").get<size_t>();
    EXPECT_EQ(one.at("text"), context.substr(start, end - start));
  }
  EXPECT_THROW(values(model, std::vector<Input>{{.second = "a"}}), UserError);
}

TEST(ModelEndpoints, AModelOfTagsFindsThem) {
  const MadeUpModel made_up(
      {.kind = models::HeadKind::kTokenClassification, .labels = {"B-X", "I-X"}});
  const ServedModel model = made_up.serve();
  EXPECT_EQ(model.head.form.path, "/tag");
  const std::string text = "the town lies on the river .";
  const std::vector<Input> inputs = {{.first = text, .mode = "first"},
                                     {.first = "", .mode = "first"},
                                     {.first = text, .mode = "none"}};
  const auto outputs = values(model, inputs);
  size_t next = 0;
  for (const Json& one : outputs[0].at("tags")) {
    const auto start = one.at("start").get<size_t>(), end = one.at("end").get<size_t>();
    EXPECT_EQ(one.at("tag"), "X");
    EXPECT_EQ(one.at("text"), text.substr(start, end - start));
    EXPECT_GE(start, next);
    next = end;
  }
  EXPECT_EQ(next, text.size());
  EXPECT_TRUE(outputs[1].at("tags").empty());
  ASSERT_EQ(outputs[2].at("tags").size(), 7u);
  EXPECT_EQ(outputs[2]["tags"][0]["tag"].get<std::string>().substr(1), "-X");
}

TEST(ModelEndpoints, AnAnswerIsTheSameWhoeverSharesTheBatch) {
  const MadeUpModel made_up({.kind = models::HeadKind::kQuestionAnswering});
  const ServedModel model = made_up.serve();
  const Input asked{.first = "the town ?", .second = "the town lies on a river .", .top_k = 3};
  const Input neighbour{
      .first = "a river ?", .second = "the river lies on the town .", .top_k = 100};
  const auto alone = values(model, std::vector<Input>{asked})[0].at("answers");
  const auto together = values(model, std::vector<Input>{asked, neighbour});
  const Json& beside = together[0].at("answers");
  EXPECT_GT(together[1].at("answers").size(), 20u);
  ASSERT_EQ(beside.size(), alone.size());
  for (size_t i = 0; i < alone.size(); ++i) {
    EXPECT_EQ(beside[i].at("text"), alone[i].at("text"));
    EXPECT_NEAR(beside[i].at("probability").get<double>(), alone[i].at("probability").get<double>(),
                1e-5);
  }
}

TEST(ModelEndpoints, ThereMayBeNoAnswer) {
  const MadeUpModel made_up({.kind = models::HeadKind::kQuestionAnswering});
  const std::vector<Input> inputs = {{.first = "the town ?", .second = "the river .", .top_k = 9}};
  const auto has_none = [&](bool may_have_no_answer) {
    const ServedModel model = made_up.serve(may_have_no_answer);
    const Json answers = values(model, inputs)[0].at("answers");
    return std::any_of(answers.begin(), answers.end(),
                       [](const Json& one) { return one.at("text") == ""; });
  };
  EXPECT_FALSE(has_none(false));
  EXPECT_TRUE(has_none(true));
}

TEST(ModelEndpoints, AClassifierNamesItsClasses) {
  const MadeUpModel made_up(
      {.kind = models::HeadKind::kSequenceClassification, .labels = {"no", "maybe", "yes"}});
  const ServedModel model = made_up.serve();
  EXPECT_EQ(model.description.at("labels"), Json({"no", "maybe", "yes"}));
  EXPECT_EQ(model.head.form.path, "/classify");
  const std::vector<Input> inputs = {{.first = "the town"}, {.first = "the town", .second = "a"}};
  const auto outputs = values(model, inputs);
  ASSERT_EQ(outputs[0].at("classes").size(), 3u);
  EXPECT_NEAR(sum_of_probabilities(outputs[0]["classes"]), 1.0, 1e-9);
  EXPECT_NE(outputs[0], outputs[1]);  // the second text counts
}

TEST(ModelEndpoints, OfSeveralLabelsThoseAboveTheThresholdHold) {
  const MadeUpModel made_up({.kind = models::HeadKind::kSequenceClassification,
                             .labels = {"sport", "money", "law"},
                             .is_multi_label = true});
  const std::vector<Input> inputs = {{.first = "the town"}};
  const auto holding = [&](std::optional<double> threshold) {
    const auto output =
        values(made_up.serve({.num_threads = 1, .threshold = threshold}), inputs)[0];
    EXPECT_EQ(output.at("classes").size(), 3u);
    size_t above = 0;
    for (size_t i = 0; i < 3; ++i) {
      const Json& one = output.at("classes")[i];
      if (one.at("probability").get<double>() <= threshold.value_or(0.5)) continue;
      EXPECT_EQ(output.at("labels").at(i), one.at("label"));
      ++above;
    }
    EXPECT_EQ(output.at("labels").size(), above);
    return output.at("labels").size();
  };
  EXPECT_EQ(holding(0.0), 3u);
  EXPECT_EQ(holding(1.0), 0u);
  holding(std::nullopt);
  const MadeUpModel one_label(
      {.kind = models::HeadKind::kSequenceClassification, .labels = {"no", "yes"}});
  EXPECT_THROW(one_label.serve({.num_threads = 1, .threshold = 0.3}), UserError);
  const MadeUpModel words({.kind = models::HeadKind::kPretraining});
  EXPECT_THROW(words.serve({.num_threads = 1, .threshold = 0.3}), UserError);
}

TEST(ModelEndpoints, AChoiceIsTheMostProbableOfTheList) {
  const MadeUpModel made_up({.kind = models::HeadKind::kMultipleChoice});
  const ServedModel model = made_up.serve();
  const std::vector<Input> inputs = {
      {.first = "the town", .list = {"a river", "the mill", "a town"}},
      {.first = "the town", .list = {"a town", "a river"}},
      {.first = "the town", .second = "the", .list = {"a town", "a river"}}};
  const auto outputs = values(model, inputs);
  ASSERT_EQ(outputs.size(), 3u);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const auto probabilities = outputs[i].at("probabilities").get<std::vector<double>>();
    ASSERT_EQ(probabilities.size(), inputs[i].list.size());
    EXPECT_NEAR(std::accumulate(probabilities.begin(), probabilities.end(), 0.0), 1.0, 1e-9);
    EXPECT_EQ(std::ranges::max_element(probabilities) - probabilities.begin(),
              outputs[i].at("choice").get<int64_t>());
  }
  EXPECT_NE(outputs[1], outputs[2]);  // the second text counts
  EXPECT_EQ(model.head.form.count_candidates(inputs[0]), 3);
  EXPECT_THROW(values(model, std::vector<Input>{{.first = "the town", .list = {"a"}}}), UserError);
}

TEST(ModelEndpoints, AModelIsCalledByItsFolder) {
  const MadeUpModel made_up({.kind = models::HeadKind::kPretraining});
  const fs::path folder = fs::path(testing::TempDir()) / "model_name_test";
  const auto name = [&](const fs::path& copy, const std::string& given) {
    const ServedModel model = MadeUpModel::serve(copy, {.num_threads = 1, .model_name = given});
    return model.description.at("name").get<std::string>();
  };
  const fs::path checkpoint = MadeUpModel::copied_to(folder / "towns" / "checkpoint-10");
  EXPECT_EQ(name(checkpoint, ""), "towns/checkpoint-10");
  EXPECT_EQ(name(checkpoint / "", ""), "towns/checkpoint-10");
  EXPECT_EQ(name(MadeUpModel::copied_to(folder / "rivers"), ""), "rivers");
  EXPECT_EQ(name(checkpoint, "the towns"), "the towns");
  fs::remove_all(folder);
}

// The model has 32 positions.
TEST(ModelEndpoints, WhatWasCutIsSaid) {
  std::string words;
  for (int i = 0; i < 70; ++i) words += "town ";
  const MadeUpModel classifier(
      {.kind = models::HeadKind::kSequenceClassification, .labels = {"no", "yes"}});
  const std::vector<Input> texts = {{.first = words, .second = "a river"}, {.first = "a"}};
  const auto classes = values(classifier.serve(), texts);
  EXPECT_EQ(classes[0].at("truncated"), Json({{"tokens", 72}, {"kept", 29}}));
  EXPECT_FALSE(classes[1].contains("truncated"));
}

TEST(ModelEndpoints, TheEndOfATextIsKeptWhereThatIsAskedFor) {
  std::string towns, rivers;
  for (int i = 0; i < 30; ++i) towns += "town ", rivers += "river ";
  const std::vector<Input> inputs = {
      {.first = towns + rivers}, {.first = towns + rivers, .cuts_start = true}, {.first = rivers}};
  for (const models::BertHead& head :
       {models::BertHead{.kind = models::HeadKind::kSequenceClassification,
       .labels = {"no", "yes"}},
        models::BertHead{.kind = models::HeadKind::kEmbedding}}) {
    const MadeUpModel model(head);
    const std::vector<Answer> answers = model.serve().head.handler(inputs);
    EXPECT_NE(answers[0].numbers, answers[1].numbers);
    EXPECT_EQ(answers[1].numbers, answers[2].numbers);
  }
}

TEST(ModelEndpoints, WhatIsUnknownIsSaid) {
  const std::vector<Input> texts = {{.first = "the \u5317 [MASK] [SEP] \u5317 on", .second = ""},
                                    {.first = "the [MASK] ."}};
  const auto blanks = values(MadeUpModel({.kind = models::HeadKind::kPretraining}).serve(), texts);
  EXPECT_EQ(blanks[0].at("unknown"),
            Json({{"tokens", 4}, {"count", 2}, {"most_often", {"\u5317"}}}));
  EXPECT_FALSE(blanks[1].contains("unknown"));
  const std::vector<Input> pairs = {{.first = "the zoo", .second = "a river"},
                                    {.first = "the town", .second = "a river"}};
  const auto classes = values(
      MadeUpModel({.kind = models::HeadKind::kSequenceClassification, .labels = {"no", "yes"}})
          .serve(),
      pairs);
  EXPECT_EQ(classes[0].at("unknown"), Json({{"tokens", 4}, {"count", 1}, {"most_often", {"z"}}}));
  EXPECT_FALSE(classes[1].contains("unknown"));
  const auto answers =
      values(MadeUpModel({.kind = models::HeadKind::kQuestionAnswering}).serve(), pairs);
  EXPECT_EQ(answers[0].at("unknown"), Json({{"tokens", 4}, {"count", 1}, {"most_often", {"z"}}}));
  EXPECT_FALSE(answers[1].contains("unknown"));
}

TEST(ModelEndpoints, ARegressionGivesItsNumber) {
  const MadeUpModel made_up(
      {.kind = models::HeadKind::kSequenceClassification, .labels = {"score"}});
  const auto outputs = values(made_up.serve(), std::vector<Input>{{.first = "the town"}});
  EXPECT_TRUE(outputs[0].at("value").is_number_float());
  EXPECT_EQ(outputs[0].size(), 1u);
}

}  // namespace
}  // namespace cloze::serve
