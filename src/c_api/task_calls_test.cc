#include <cloze_runtime.h>
#include <gtest/gtest.h>
#include <cloze_runtime.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <thread>

#include "c_api/handles_test.h"
#include "formats/json.h"
#include "platform/files/atomic_file.h"
#include "platform/files/file.h"
#include "tasks/mask_filler.h"
#include "tasks/squad/question_answerer.h"
#include "tasks/tagging/text_tagger.h"
#include "tasks/text_chooser.h"
#include "tasks/text_classifier.h"
#include "tasks/text_embedder.h"

namespace cloze {
namespace {

using models::HeadKind;
using Strings = std::vector<std::string>;

std::string words(int first, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += fmt::format("word{} ", 5 + (first + i) % 90);
  return text;
}

// Long and short texts, one of them with a word that the model does not know.
Strings some_texts(int count) {
  Strings texts = {"\u00e9 word7 word9"};
  for (int i = 1; i < count; ++i) texts.push_back(words(7 * i, 1 + 13 * i % 50));
  return texts;
}

using Call = std::function<cloze_result*(cloze_client*)>;

// All that a result holds, the numbers to the bit.
std::string contents(const cloze_result* result) {
  std::string all;
  for (int64_t row = 0; row < cloze_result_rows(result); ++row) {
    all +=
        fmt::format("row {} {} {} {} {}\n", cloze_result_input(result, row),
                    cloze_result_holding(result, row), cloze_result_tokens(result, row),
                    cloze_result_unknown_tokens(result, row), cloze_result_cut_tokens(result, row));
    for (int64_t item = 0; item < cloze_result_items(result, row); ++item) {
      const char* label = cloze_result_label(result, row, item);
      const char* text = cloze_result_text(result, row, item);
      all += fmt::format(
          "{} {} {:a} {} {} {}\n", label == nullptr ? "-" : label, text == nullptr ? "-" : text,
          cloze_result_probability(result, row, item), cloze_result_number(result, row, item),
          cloze_result_begin(result, row, item), cloze_result_end(result, row, item));
    }
  }
  return all;
}

std::string contents(const Call& call, cloze_client* client) {
  return contents(taken(call(client)).get());
}

// Two clients at once, many threads, and a text alone give the bits of one client and all texts.
void expect_same_bits(const OpenedModel& opened, const Call& call) {
  const std::string expected = contents(call, opened.client);
  ASSERT_NE(expected, "");
  std::vector<std::thread> threads;
  Strings got(4);
  for (size_t i = 0; i < got.size(); ++i) {
    threads.emplace_back([&, i] {
      cloze_client* own = cloze_client_open(opened.model, i == 3 ? 3 : 1);
      for (int round = 0; round < 3; ++round) got[i] = contents(call, own);
      cloze_client_close(own);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& one : got) EXPECT_EQ(one, expected);
}

TEST(TaskCalls, ClassesAreThoseOfTheClassifier) {
  const OpenedModel opened(HeadKind::kSequenceClassification);
  const Strings texts = some_texts(20);
  Strings pairs(texts.size());
  pairs[3] = words(1, 60);
  const auto first = c_texts(texts), second = c_texts(pairs);
  const Call call = [&](cloze_client* client) {
    return cloze_classify(client, first.data(), second.data(), std::ssize(first));
  };
  expect_same_bits(opened, call);
  const TaskResult result = taken(call(opened.client));
  std::vector<tasks::TextAndPair> both;
  for (size_t i = 0; i < texts.size(); ++i) both.push_back({texts[i], pairs[i]});
  const auto expected = tasks::TextClassifier(opened.packed, 1).classify(both);
  ASSERT_EQ(cloze_result_rows(result.get()), std::ssize(expected));
  for (size_t i = 0; i < expected.size(); ++i) {
    const auto row = static_cast<int64_t>(i);
    ASSERT_EQ(cloze_result_items(result.get(), row), 3);
    EXPECT_EQ(cloze_result_input(result.get(), row), row);
    EXPECT_EQ(cloze_result_holding(result.get(), row), 1);
    EXPECT_EQ(cloze_result_tokens(result.get(), row), expected[i].unknown.tokens);
    EXPECT_EQ(cloze_result_cut_tokens(result.get(), row),
              expected[i].texts.tokens - expected[i].texts.kept);
    for (int64_t item = 0; item < 3; ++item) {
      const auto& one = expected[i].classes[static_cast<size_t>(item)];
      EXPECT_EQ(cloze_result_label(result.get(), row, item), one.label);
      EXPECT_EQ(cloze_result_probability(result.get(), row, item), one.value);
      const int64_t number = cloze_result_number(result.get(), row, item);
      EXPECT_EQ(cloze_model_label(opened.model, number), one.label);
    }
  }
  EXPECT_EQ(cloze_result_unknown_tokens(result.get(), 0), 1);
  EXPECT_GT(cloze_result_cut_tokens(result.get(), 3), 0);
  // Each text alone.
  const std::string all = contents(result.get());
  for (size_t i = 0; i < first.size(); ++i) {
    const TaskResult alone =
        taken(cloze_classify(opened.client, &first[i], i == 3 ? &second[i] : nullptr, 1));
    for (int64_t item = 0; item < 3; ++item) {
      EXPECT_EQ(cloze_result_probability(alone.get(), 0, item),
                cloze_result_probability(result.get(), static_cast<int64_t>(i), item));
    }
  }
}

TEST(TaskCalls, TagsHavePlacesInBytes) {
  const OpenedModel opened(HeadKind::kTokenClassification);
  const Strings texts = {"\u00e9 word7 word9", words(1, 200), ""};
  const auto views = c_texts(texts);
  expect_same_bits(
      opened, [&](cloze_client* client) { return cloze_tag(client, views.data(), 3, nullptr); });
  tasks::TextTagger tagger(opened.packed, 1);
  for (const char* name : {"first", "average", "max", "simple", "none"}) {
    const TaskResult result = taken(cloze_tag(opened.client, views.data(), 3, name));
    const auto expected = tagger.tag(texts, *tasks::tag_aggregation(name));
    ASSERT_EQ(cloze_result_rows(result.get()), 3);
    for (int64_t row = 0; row < 3; ++row) {
      const auto& tags = expected[static_cast<size_t>(row)].tags;
      ASSERT_EQ(cloze_result_items(result.get(), row), std::ssize(tags));
      for (int64_t item = 0; item < std::ssize(tags); ++item) {
        const tasks::TextTag& tag = tags[static_cast<size_t>(item)];
        EXPECT_EQ(cloze_result_label(result.get(), row, item), tag.tag);
        EXPECT_EQ(cloze_result_probability(result.get(), row, item), tag.probability);
        const auto begin = static_cast<size_t>(cloze_result_begin(result.get(), row, item));
        const auto end = static_cast<size_t>(cloze_result_end(result.get(), row, item));
        EXPECT_EQ(texts[static_cast<size_t>(row)].substr(begin, end - begin), tag.text);
        EXPECT_EQ(cloze_result_text(result.get(), row, item), tag.text);
      }
    }
  }
  const TaskResult first = taken(cloze_tag(opened.client, views.data(), 3, nullptr));
  EXPECT_EQ(cloze_result_begin(first.get(), 0, 1), 3);
  EXPECT_EQ(refusal(cloze_tag(opened.client, views.data(), 3, "mean")),
            "aggregation mean; known are first, average, max, simple, none");
}

TEST(TaskCalls, AnswersHavePlacesInTheContext) {
  const OpenedModel opened(HeadKind::kQuestionAnswering);
  const Strings questions = {"word5", words(3, 9), "word8"};
  const Strings contexts = {"\u00e9\u00e9 word7 word9", words(1, 150), words(1, 20)};
  const auto first = c_texts(questions), second = c_texts(contexts);
  expect_same_bits(opened, [&](cloze_client* client) {
    return cloze_answer(client, first.data(), second.data(), 3, 4, 0, 0);
  });
  std::vector<tasks::QuestionAndContext> both;
  for (size_t i = 0; i < 3; ++i) both.push_back({questions[i], contexts[i], 4});
  tasks::QuestionAnswerer answerer(opened.packed, 1);
  for (const bool may_have_none : {false, true}) {
    for (const int64_t longest : {30, 2}) {
      const TaskResult result = taken(cloze_answer(opened.client, first.data(), second.data(), 3, 4,
                                                   longest == 30 ? 0 : longest,
                                                   may_have_none ? CLOZE_MAY_HAVE_NO_ANSWER : 0));
      const auto expected = answerer.answer(both, {longest, may_have_none});
      for (int64_t row = 0; row < 3; ++row) {
        const auto& answers = expected[static_cast<size_t>(row)].answers;
        ASSERT_EQ(cloze_result_items(result.get(), row), std::ssize(answers));
        for (int64_t item = 0; item < std::ssize(answers); ++item) {
          const tasks::Answer& answer = answers[static_cast<size_t>(item)];
          EXPECT_EQ(cloze_result_text(result.get(), row, item), answer.text);
          EXPECT_EQ(cloze_result_probability(result.get(), row, item), answer.probability);
          const auto begin = static_cast<size_t>(cloze_result_begin(result.get(), row, item));
          const auto end = static_cast<size_t>(cloze_result_end(result.get(), row, item));
          EXPECT_EQ(contexts[static_cast<size_t>(row)].substr(begin, end - begin), answer.text);
        }
      }
    }
  }
}

TEST(TaskCalls, EachBlankIsARow) {
  const OpenedModel opened(HeadKind::kPretraining);
  const Strings texts = {"\u00e9 [MASK] word9 [MASK]", "word5 [MASK]"};
  const auto views = c_texts(texts);
  const Call call = [&](cloze_client* client) { return cloze_fill(client, views.data(), 2, 3); };
  expect_same_bits(opened, call);
  const TaskResult result = taken(call(opened.client));
  const tasks::FilledTexts expected = tasks::MaskFiller(opened.packed, 1).fill(texts, 3);
  ASSERT_EQ(cloze_result_rows(result.get()), 3);
  for (int64_t row = 0; row < 3; ++row) {
    const tasks::Blank& blank = expected.blanks[static_cast<size_t>(row)];
    EXPECT_EQ(cloze_result_input(result.get(), row), row / 2);
    ASSERT_EQ(cloze_result_items(result.get(), row), 3);
    for (int64_t item = 0; item < 3; ++item) {
      const tasks::Candidate& candidate = blank.candidates[static_cast<size_t>(item)];
      EXPECT_EQ(cloze_result_text(result.get(), row, item), candidate.token);
      EXPECT_EQ(cloze_result_number(result.get(), row, item), candidate.id);
      EXPECT_EQ(cloze_result_probability(result.get(), row, item), candidate.probability);
    }
  }
  EXPECT_EQ(cloze_result_begin(result.get(), 1, 0), 16);
  EXPECT_EQ(cloze_result_end(result.get(), 1, 0), 22);
  EXPECT_EQ(cloze_result_unknown_tokens(result.get(), 0), 1);
}

TEST(TaskCalls, TheMostProbableChoiceIsFirst) {
  const OpenedModel opened(HeadKind::kMultipleChoice);
  const Strings texts = some_texts(3),
                choices = {"word5", "word6", "word7 word8", "word9", "word10"};
  const Strings pairs = {"word5", "", "word7"};
  const int64_t counts[] = {2, 2, 1};
  const int64_t num_choices[] = {3, 2};
  const auto first = c_texts(texts), second = c_texts(pairs), all = c_texts(choices);
  const Call call = [&](cloze_client* client) {
    return cloze_choose(client, first.data(), second.data(), all.data(), num_choices, 2);
  };
  expect_same_bits(opened, call);
  const TaskResult result = taken(call(opened.client));
  const std::vector<tasks::TextAndChoices> both = {
      {texts[0], pairs[0], {choices[0], choices[1], choices[2]}},
      {texts[1], pairs[1], {choices[3], choices[4]}}};
  const auto expected = tasks::TextChooser(opened.packed, 1).choose(both);
  for (int64_t row = 0; row < 2; ++row) {
    const tasks::Choice& one = expected[static_cast<size_t>(row)];
    ASSERT_EQ(cloze_result_items(result.get(), row), num_choices[row]);
    EXPECT_EQ(cloze_result_number(result.get(), row, 0), one.number);
    for (int64_t item = 0; item < num_choices[row]; ++item) {
      const auto number = static_cast<size_t>(cloze_result_number(result.get(), row, item));
      EXPECT_EQ(cloze_result_probability(result.get(), row, item), one.probabilities[number]);
    }
  }
  EXPECT_EQ(refusal(cloze_choose(opened.client, first.data(), nullptr, all.data(), nullptr, 3)),
            "cloze_choose got no numbers of choices");
  EXPECT_EQ(refusal(cloze_choose(opened.client, first.data(), nullptr, all.data(), counts, 3)),
            "a text has 1 choices; give two or more");
  const int64_t none[] = {0};
  EXPECT_EQ(refusal(cloze_choose(opened.client, first.data(), nullptr, all.data(), none, 1)),
            "cloze_choose got 0 choices of text 0; give 1 to 1000000");
  EXPECT_EQ(refusal(cloze_choose(opened.client, first.data(), nullptr, nullptr, counts, 1)),
            "there is no choice; give an array of 2");
}

// The vectors of a call, laid end to end; NaN where they were not written.
std::vector<float> embedded(cloze_client* client, const Strings& texts, const char* prompt) {
  const auto views = c_texts(texts);
  std::vector<float> vectors(24 * texts.size(), std::nanf(""));
  EXPECT_EQ(cloze_embed(client, views.data(), std::ssize(views), prompt, 0, vectors.data()), 0)
      << cloze_last_error();
  return vectors;
}

TEST(TaskCalls, VectorsAreThoseOfTheEmbedder) {
  const OpenedModel opened(HeadKind::kEmbedding);
  ASSERT_EQ(cloze_model_dimensions(opened.model), 24);
  const Strings texts = some_texts(40);
  tasks::TextEmbedder embedder(opened.packed, 1);
  for (const char* prompt : {static_cast<const char*>(nullptr), "", "word5 word6 "}) {
    tasks::EmbeddingOptions options;
    if (prompt != nullptr) options.prompt = prompt;
    std::vector<float> expected;
    for (const auto& one : embedder.embed(texts, options)) {
      expected.insert(expected.end(), one.values.begin(), one.values.end());
    }
    EXPECT_EQ(embedded(opened.client, texts, prompt), expected);
  }
}

TEST(TaskCalls, VectorsMayBeCut) {
  const OpenedModel opened(HeadKind::kEmbedding);
  const Strings texts = some_texts(3);
  const std::vector<float> whole = embedded(opened.client, texts, nullptr);
  std::vector<float> cut(3 * 5 + 1, 7.0F);
  const auto views = c_texts(texts);
  ASSERT_EQ(cloze_embed(opened.client, views.data(), 3, nullptr, 5, cut.data()), 0);
  cloze_runtime::Client client(cloze_runtime::Model(opened.folder.path().string()));
  const auto vectors = client.embed(texts, {.dimensions = 5});
  for (size_t i = 0; i < 3; ++i) {
    const std::vector<float> expected(whole.begin() + 24 * i, whole.begin() + 24 * i + 5);
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), cut.begin() + 5 * i));
    EXPECT_EQ(vectors[i], expected);
  }
  EXPECT_EQ(cut.back(), 7.0F);
  const std::vector<float> asked = embedded(opened.client, {texts[0]}, "word5 ");
  EXPECT_EQ(client.embed({texts[0]}, {.prompt = "word5 "})[0], asked);
}

TEST(TaskCalls, VectorsHaveTheSameBitsInEachClientAndAlone) {
  const OpenedModel opened(HeadKind::kEmbedding);
  const Strings texts = some_texts(40);
  const std::vector<float> expected = embedded(opened.client, texts, nullptr);
  std::vector<std::vector<float>> got(4);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < got.size(); ++i) {
    threads.emplace_back([&, i] {
      cloze_client* own = cloze_client_open(opened.model, i == 3 ? 3 : 1);
      got[i] = embedded(own, texts, nullptr);
      cloze_client_close(own);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<float>& one : got) EXPECT_EQ(one, expected);
  std::vector<float> alone;
  for (const std::string& text : texts) {
    const std::vector<float> one = embedded(opened.client, {text}, nullptr);
    alone.insert(alone.end(), one.begin(), one.end());
  }
  EXPECT_EQ(alone, expected);
}

TEST(TaskCalls, VectorsNeedAModelTextsAndRoom) {
  const OpenedModel opened(HeadKind::kEmbedding);
  const cloze_text text{"word5", -1};
  float vector[24];
  EXPECT_EQ(refusal(cloze_embed(opened.client, &text, 1, nullptr, 0, nullptr)),
            "cloze_embed got no room for vectors");
  EXPECT_EQ(refusal(cloze_embed(opened.client, &text, 0, nullptr, 0, vector)),
            "cloze_embed got 0 texts; give 1 to 1000000");
  for (const int64_t dimensions : {-1, 25}) {
    EXPECT_EQ(refusal(cloze_embed(opened.client, &text, 1, nullptr, dimensions, vector)),
              fmt::format("dimensions is {}; the model's vectors have 1 to 24", dimensions));
  }
  EXPECT_EQ(refusal(cloze_embed(opened.client, nullptr, 1, nullptr, 0, vector)),
            "there is no text; give an array of 1");
  EXPECT_EQ(refusal(cloze_embed(nullptr, &text, 1, nullptr, 0, vector)),
            "there is no client; open one with cloze_client_open");
  EXPECT_EQ(refusal(cloze_model_dimensions(nullptr)),
            "there is no model; open one with cloze_model_open");
  const OpenedModel classifier(HeadKind::kSequenceClassification, "c_api_no_vectors");
  EXPECT_EQ(refusal(cloze_model_dimensions(classifier.model)),
            classifier.folder.path().string() +
                " is a BertForSequenceClassification, where a BertModel is needed; give a model of "
                "that kind");
  EXPECT_EQ(refusal(cloze_embed(classifier.client, &text, 1, nullptr, 0, vector)),
            cloze_last_error());
}

// Of a folder whose configuration says so.
TEST(TaskCalls, SeveralLabelsHoldAndARegressionGivesANumber) {
  const inference::SmallModelFolder folder(HeadKind::kSequenceClassification, "c_api_problems");
  const auto config_file = folder.path() / "config.json";
  auto config = formats::Json::parse(platform::read_file(config_file));
  config["problem_type"] = "multi_label_classification";
  platform::write_file_atomically(config_file, config.dump());
  cloze_model* model = cloze_model_open(folder.path().c_str());
  ASSERT_NE(model, nullptr) << cloze_last_error();
  EXPECT_STREQ(cloze_model_problem(model), "multi_label_classification");
  cloze_client* client = cloze_client_open(model, 1);
  const Strings texts = some_texts(30);
  const auto views = c_texts(texts);
  const TaskResult result = taken(cloze_classify(client, views.data(), nullptr, 30));
  for (int64_t row = 0; row < 30; ++row) {
    int64_t holding = 0;
    for (int64_t item = 0; item < 3; ++item) {
      holding += cloze_result_probability(result.get(), row, item) > 0.5;
    }
    EXPECT_EQ(cloze_result_holding(result.get(), row), holding);
  }
  cloze_client_close(client);
  cloze_model_close(model);
}

TEST(TaskCalls, AModelSaysWhatItIsFor) {
  const OpenedModel classifier(HeadKind::kSequenceClassification);
  EXPECT_STREQ(cloze_model_problem(classifier.model), "single_label_classification");
  EXPECT_EQ(cloze_model_labels(classifier.model), 3);
  EXPECT_STREQ(cloze_model_label(classifier.model, 2), "maybe");
  EXPECT_EQ(refusal(cloze_model_label(classifier.model, 3)), "label 3; the model has 3");
  EXPECT_EQ(refusal(cloze_model_label(classifier.model, -1)), "label -1; the model has 3");
  EXPECT_EQ(cloze_model_notes(classifier.model), std::ssize(classifier.packed->notes()));
  EXPECT_EQ(refusal(cloze_model_note(classifier.model, 99)),
            fmt::format("note 99; the model has {}", classifier.packed->notes().size()));
  const OpenedModel answerer(HeadKind::kQuestionAnswering, "c_api_answerer");
  EXPECT_STREQ(cloze_model_problem(answerer.model), "");
  EXPECT_EQ(cloze_model_labels(answerer.model), 0);
  const cloze_text text{"word5", -1};
  EXPECT_EQ(refusal(cloze_classify(answerer.client, &text, nullptr, 1)),
            answerer.folder.path().string() +
                " is a BertForQuestionAnswering, where a BertForSequenceClassification is needed; "
                "give a model of that kind");
}

// Each as often as the model's folder says one.
TEST(TaskCalls, NotesAreThoseOfTheModel) {
  models::BertConfig config = inference::SmallModelFolder::config();
  config.vocab_size = 90;
  const inference::SmallModelFolder folder(HeadKind::kSequenceClassification, "c_api_notes",
                                           config);
  cloze_model* model = cloze_model_open(folder.path().c_str());
  ASSERT_NE(model, nullptr) << cloze_last_error();
  const auto notes = inference::open_pretrained_model(folder.path()).notes;
  ASSERT_GE(cloze_model_notes(model), std::ssize(notes));
  ASSERT_FALSE(notes.empty());
  for (size_t i = 0; i < notes.size(); ++i) {
    EXPECT_EQ(cloze_model_note(model, static_cast<int64_t>(i)), notes[i]);
  }
  const cloze_text text{"word95", -1};
  cloze_encoding* one = cloze_encode(cloze_model_tokenizer(model), &text, nullptr, 1, 0, 0, 1);
  ASSERT_NE(one, nullptr);
  EXPECT_EQ(cloze_encoding_ids(one)[1], 1);
  cloze_encoding_close(one);
  cloze_model_close(model);
}

TEST(TaskCalls, WhatCannotBeIsRefused) {
  const OpenedModel opened(HeadKind::kPretraining);
  cloze_client* client = opened.client;
  const cloze_text text{"word5 [MASK]", -1}, null{nullptr, 0};
  const int64_t two = 2;
  const std::string no_client = "there is no client; open one with cloze_client_open";
  EXPECT_EQ(refusal(cloze_classify(nullptr, &text, nullptr, 1)), no_client);
  EXPECT_EQ(refusal(cloze_tag(nullptr, &text, 1, nullptr)), no_client);
  EXPECT_EQ(refusal(cloze_answer(nullptr, &text, &text, 1, 1, 0, 0)), no_client);
  EXPECT_EQ(refusal(cloze_fill(nullptr, &text, 1, 1)), no_client);
  EXPECT_EQ(refusal(cloze_choose(nullptr, &text, nullptr, &text, &two, 1)), no_client);
  EXPECT_EQ(refusal(cloze_classify(client, &text, nullptr, 0)),
            "cloze_classify got 0 texts; give 1 to 1000000");
  EXPECT_EQ(refusal(cloze_tag(client, &text, -1, nullptr)),
            "cloze_tag got -1 texts; give 1 to 1000000");
  EXPECT_EQ(refusal(cloze_answer(client, &text, &text, 0, 1, 0, 0)),
            "cloze_answer got 0 questions; give 1 to 1000000");
  EXPECT_EQ(refusal(cloze_fill(client, &text, 0, 1)), "cloze_fill got 0 texts; give 1 to 1000000");
  EXPECT_EQ(refusal(cloze_choose(client, &text, nullptr, &text, &two, 0)),
            "cloze_choose got 0 texts; give 1 to 1000000");
  EXPECT_EQ(refusal(cloze_fill(client, nullptr, 1, 1)), "there is no text; give an array of 1");
  EXPECT_EQ(refusal(cloze_fill(client, &null, 1, 1)), "text 0 is NULL; give its bytes");
  EXPECT_EQ(refusal(cloze_fill(client, &text, 1, 0)), "cloze_fill got top_k 0; give 1 or more");
  EXPECT_EQ(refusal(cloze_answer(client, &text, &text, 1, -3, 0, 0)),
            "cloze_answer got top_k -3; give 1 or more");
  EXPECT_EQ(refusal(cloze_answer(client, &text, &text, 1, 1, -1, 0)),
            "cloze_answer got max_answer_tokens -1; give 1 or more, or 0 for 30");
  EXPECT_EQ(refusal(cloze_answer(client, &text, &text, 1, 1, 0, 1)),
            "cloze_answer got flags 1; it knows 0 and 2");
  EXPECT_EQ(refusal(cloze_answer(client, &text, nullptr, 1, 1, 0, 0)),
            "there is no context; give an array of 1");
  // After all of these the client works.
  EXPECT_EQ(cloze_result_rows(taken(cloze_fill(client, &text, 1, 1)).get()), 1);
}

TEST(TaskCalls, AResultSaysWhatItDoesNotHave) {
  const OpenedModel opened(HeadKind::kPretraining);
  const cloze_text text{"word5 [MASK]", -1};
  const TaskResult result = taken(cloze_fill(opened.client, &text, 1, 2));
  EXPECT_EQ(refusal(cloze_result_label(result.get(), 0, 0)), "items of cloze_fill have no label");
  EXPECT_EQ(refusal(cloze_result_text(result.get(), 1, 0)), "row 1; the last is 0");
  EXPECT_EQ(refusal(cloze_result_text(result.get(), 0, 2)), "item 2; the last is 1");
  EXPECT_EQ(refusal(cloze_result_items(result.get(), -1)), "row -1; the last is 0");
  EXPECT_TRUE(std::isnan(cloze_result_probability(result.get(), 0, 2)));
  EXPECT_STREQ(cloze_last_error(), "item 2; the last is 1");
  const std::string no_result = "there is no result; open one with cloze_classify or another task";
  EXPECT_EQ(refusal(cloze_result_rows(nullptr)), no_result);
  EXPECT_EQ(refusal(cloze_result_items(nullptr, 0)), no_result);
  EXPECT_EQ(refusal(cloze_result_input(nullptr, 0)), no_result);
  EXPECT_EQ(refusal(cloze_result_holding(nullptr, 0)), no_result);
  EXPECT_EQ(refusal(cloze_result_tokens(nullptr, 0)), no_result);
  EXPECT_EQ(refusal(cloze_result_unknown_tokens(nullptr, 0)), no_result);
  EXPECT_EQ(refusal(cloze_result_cut_tokens(nullptr, 0)), no_result);
  EXPECT_EQ(refusal(cloze_result_label(nullptr, 0, 0)), no_result);
  EXPECT_EQ(refusal(cloze_result_text(nullptr, 0, 0)), no_result);
  EXPECT_EQ(refusal(cloze_result_number(nullptr, 0, 0)), no_result);
  EXPECT_EQ(refusal(cloze_result_begin(nullptr, 0, 0)), no_result);
  EXPECT_EQ(refusal(cloze_result_end(nullptr, 0, 0)), no_result);
  EXPECT_TRUE(std::isnan(cloze_result_probability(nullptr, 0, 0)));
  EXPECT_STREQ(cloze_last_error(), no_result.c_str());
  cloze_result_close(nullptr);

  const OpenedModel classifier(HeadKind::kSequenceClassification, "c_api_classes");
  const TaskResult classes = taken(cloze_classify(classifier.client, &text, nullptr, 1));
  EXPECT_EQ(refusal(cloze_result_text(classes.get(), 0, 0)),
            "items of cloze_classify have no text");
  EXPECT_EQ(refusal(cloze_result_begin(classes.get(), 0, 0)),
            "items of cloze_classify have no place");
  const OpenedModel tagger(HeadKind::kTokenClassification, "c_api_tags");
  const cloze_text empty{"", 0};
  const TaskResult tags = taken(cloze_tag(tagger.client, &empty, 1, nullptr));
  EXPECT_EQ(refusal(cloze_result_text(tags.get(), 0, 0)), "item 0; there is none");
  const TaskResult tagged = taken(cloze_tag(tagger.client, &text, 1, nullptr));
  EXPECT_EQ(refusal(cloze_result_number(tagged.get(), 0, 0)), "items of cloze_tag have no number");
}

// A thread's latest failure is its own.
TEST(TaskCalls, FailuresAreOfTheirThread) {
  EXPECT_EQ(cloze_tokenizer_size(nullptr), -1);
  std::string other = "not yet said";
  std::thread([&] { other = cloze_last_error(); }).join();
  EXPECT_EQ(other, "");
  EXPECT_STRNE(cloze_last_error(), "");
}

}  // namespace
}  // namespace cloze
