#include "tasks.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.h"
#include "character_places.h"
#include "path_argument.h"
#include "python_texts.h"
#include "runner.h"

namespace cloze_python {
namespace {

using namespace nb::literals;
using cloze_runtime::AnswerItem;
using cloze_runtime::AnswerOptions;
using cloze_runtime::Answers;
using cloze_runtime::Blank;
using cloze_runtime::Classification;
using cloze_runtime::ClassItem;
using cloze_runtime::Client;
using cloze_runtime::EmbeddingOptions;
using cloze_runtime::Reading;
using cloze_runtime::TagItem;
using cloze_runtime::Tags;
using cloze_runtime::WordItem;
using Vectors = nb::ndarray<nb::numpy, float, nb::ndim<2>>;

// A class of Python for each task, since each has its own function.
struct Embedder : Runner {
  using Runner::Runner;
};
struct Classifier : Runner {
  using Runner::Runner;
};
struct Tagger : Runner {
  using Runner::Runner;
};
struct Answerer : Runner {
  using Runner::Runner;
};
struct Filler : Runner {
  using Runner::Runner;
};

template <class Item>
void append(std::vector<Item> part, std::vector<Item>& all) {
  all.insert(all.end(), std::make_move_iterator(part.begin()), std::make_move_iterator(part.end()));
}

// Makes the places of an item, or of a blank, count characters.
template <class Item>
void convert_places(CharacterPlaces& places, Item& item) {
  const int64_t begin = places.of(item.begin);
  item.end = places.of(item.end);
  item.begin = begin;
}

// A second text for each text or none; the C++ header would see only a part's.
void check_pairs(const PythonTexts& texts, const PythonTexts& pairs) {
  cloze_runtime::internal::check_pairs(texts.views(), pairs.views());
}

Vectors embed(Embedder& own, const TextSequence& given, const std::optional<std::string>& prompt,
              int64_t dimensions) {
  const PythonTexts texts(given, "text");
  const auto width = static_cast<size_t>(dimensions > 0 ? dimensions : own.model().dimensions());
  const auto vectors = new_array<Vectors, float>({texts.size(), width});
  const EmbeddingOptions options{prompt, dimensions};
  own.run(texts.size(), [&](Client& client, size_t begin, size_t end) {
    client.embed(copies(texts, begin, end), options, vectors.data() + begin * width);
  });
  return vectors;
}

std::vector<Classification> classify(Classifier& own, const TextSequence& given,
                                     const std::optional<TextSequence>& seconds) {
  const PythonTexts texts(given, "text"), pairs = optional_texts(seconds, "pair");
  check_pairs(texts, pairs);
  std::vector<Classification> all;
  own.run(texts.size(), [&](Client& client, size_t begin, size_t end) {
    append(client.classify(copies(texts, begin, end), copies(pairs, begin, end)), all);
  });
  return all;
}

std::vector<Tags> tag(Tagger& own, const TextSequence& given, const std::string& aggregation) {
  const PythonTexts texts(given, "text");
  std::vector<Tags> all;
  own.run(texts.size(), [&](Client& client, size_t begin, size_t end) {
    append(client.tag(copies(texts, begin, end), aggregation), all);
    for (size_t i = begin; i < end; ++i) {
      CharacterPlaces places(texts.views()[i]);
      for (TagItem& item : all[i].tags) convert_places(places, item);
    }
  });
  return all;
}

std::vector<Answers> answer(Answerer& own, const TextSequence& asked, const TextSequence& read,
                            int64_t top_k, int64_t max_answer_tokens, bool may_have_no_answer) {
  const PythonTexts questions(asked, "question"), contexts(read, "context");
  if (questions.size() != contexts.size()) {
    throw cloze_runtime::Error(std::to_string(questions.size()) + " questions have " +
                               std::to_string(contexts.size()) + " contexts; give one for each");
  }
  const AnswerOptions options{top_k, max_answer_tokens, may_have_no_answer};
  std::vector<Answers> all;
  own.run(questions.size(), [&](Client& client, size_t begin, size_t end) {
    append(client.answer(copies(questions, begin, end), copies(contexts, begin, end), options),
           all);
    for (size_t i = begin; i < end; ++i) {
      CharacterPlaces places(contexts.views()[i]);
      for (AnswerItem& item : all[i].answers) convert_places(places, item);
    }
  });
  return all;
}

std::vector<std::vector<Blank>> fill(Filler& own, const TextSequence& given, int64_t top_k) {
  const PythonTexts texts(given, "text");
  std::vector<std::vector<Blank>> all(texts.size());
  own.run(texts.size(), [&](Client& client, size_t begin, size_t end) {
    for (Blank& blank : client.fill(copies(texts, begin, end), top_k)) {
      blank.text += static_cast<int64_t>(begin);
      const auto number = static_cast<size_t>(blank.text);
      CharacterPlaces places(texts.views()[number]);
      convert_places(places, blank);
      all[number].push_back(std::move(blank));
    }
  });
  return all;
}

// A class of answers whose representation names its fields.
template <class Item>
nb::class_<Item> bind_item(nb::module_& module, const char* name, const char* representation,
                           const char* document) {
  return nb::class_<Item>(module, name, document).def("__repr__", [representation](nb::handle own) {
    return nb::str(representation).format(own);
  });
}

void bind_answers(nb::module_& module) {
  bind_item<Reading>(module, "Reading",
                     "Reading(tokens={0.tokens}, unknown={0.unknown}, cut={0.cut})",
                     "What was read of a text.")
      .def_ro("tokens", &Reading::tokens, "Special ones not counted.")
      .def_ro("unknown", &Reading::unknown, "Of these, [UNK].")
      .def_ro("cut", &Reading::cut, "Tokens that were too many for the model.");
  bind_item<ClassItem>(
      module, "ClassItem",
      "ClassItem(label={0.label!r}, probability={0.probability:.6g}, number={0.number})",
      "A class, or the number that a regression predicts.")
      .def_ro("label", &ClassItem::label)
      .def_ro("probability", &ClassItem::probability,
              "Of a regression the number that is predicted.")
      .def_ro("number", &ClassItem::number, "Of the class.");
  bind_item<Classification>(module, "Classification", "Classification(classes={0.classes!r})",
                            "The classes of a text.")
      .def_ro("classes", &Classification::classes, "The most probable first.")
      .def_ro("holding", &Classification::num_holding, "So many of the first hold.")
      .def_ro("reading", &Classification::reading);
  bind_item<TagItem>(module, "TagItem",
                     "TagItem(label={0.label!r}, text={0.text!r}, probability={0.probability:.6g}, "
                     "begin={0.begin}, end={0.end})",
                     "A tagged part of a text.")
      .def_ro("label", &TagItem::label)
      .def_ro("text", &TagItem::text)
      .def_ro("probability", &TagItem::probability)
      .def_ro("begin", &TagItem::begin, "In characters of the text.")
      .def_ro("end", &TagItem::end, "Exclusive.");
  bind_item<Tags>(module, "Tags", "Tags(tags={0.tags!r})", "The tagged parts of a text.")
      .def_ro("tags", &Tags::tags, "In the order of the text.")
      .def_ro("reading", &Tags::reading);
  bind_item<AnswerItem>(
      module, "AnswerItem",
      "AnswerItem(text={0.text!r}, probability={0.probability:.6g}, begin={0.begin}, end={0.end})",
      "An answer.")
      .def_ro("text", &AnswerItem::text, "Empty: no answer.")
      .def_ro("probability", &AnswerItem::probability)
      .def_ro("begin", &AnswerItem::begin, "In characters of the context.")
      .def_ro("end", &AnswerItem::end, "Exclusive.");
  bind_item<Answers>(module, "Answers", "Answers(answers={0.answers!r})",
                     "The answers to a question.")
      .def_ro("answers", &Answers::answers, "The most probable first.")
      .def_ro("reading", &Answers::reading);
  bind_item<WordItem>(module, "WordItem",
                      "WordItem(token={0.token!r}, probability={0.probability:.6g}, id={0.id})",
                      "A word for a blank.")
      .def_ro("token", &WordItem::token)
      .def_ro("probability", &WordItem::probability)
      .def_ro("id", &WordItem::id);
  bind_item<Blank>(module, "Blank", "Blank(words={0.words!r}, begin={0.begin}, end={0.end})",
                   "A [MASK] of a text.")
      .def_ro("words", &Blank::words, "The most probable first.")
      .def_ro("begin", &Blank::begin, "In characters of the text.")
      .def_ro("end", &Blank::end, "Exclusive.");
}

// What models of every task have.
template <class Task>
nb::class_<Task> bind_task(nb::module_& module, const char* name, const char* document) {
  return nb::class_<Task>(module, name, document)
      .def(nb::init<const PathArgument&, int>(), "path"_a, nb::kw_only(), "threads"_a = 0,
           "From a packed model, a model's folder, or the prefix of a TensorFlow checkpoint. "
           "`threads` of a call; 0: all processors.")
      .def_prop_ro(
          "architecture", [](const Task& own) { return own.model().architecture(); },
          "transformers' name of the model.")
      .def_prop_ro(
          "positions", [](const Task& own) { return own.model().positions(); },
          "The maximum number of tokens in a sequence.")
      .def_prop_ro(
          "labels", [](const Task& own) { return own.model().labels(); },
          "The names of its classes or tags.")
      .def_prop_ro(
          "notes", [](const Task& own) { return own.model().notes(); },
          "Sentences on what does not fit quite.")
      .def_prop_ro(
          "tokenizer", [](const Task& own) { return own.tokenizer(); }, "The model's.");
}

}  // namespace

void bind_tasks(nb::module_& module) {
  bind_answers(module);
  bind_task<Embedder>(module, "Embedder",
                      "Makes vectors of texts, with a model of sentence-transformers' form.")
      .def_prop_ro(
          "dimensions", [](const Embedder& own) { return own.model().dimensions(); },
          "Of a vector.")
      .def("embed", &embed, "texts"_a, nb::kw_only(), "prompt"_a = nb::none(), "dimensions"_a = 0,
           "[texts, dimensions] vectors. `prompt` is put before each text; None: the model's own. "
           "`dimensions`: so many of a vector's first numbers; 0: all.");
  bind_task<Classifier>(module, "Classifier", "Classifies texts, or pairs of texts.")
      .def_prop_ro(
          "problem", [](const Classifier& own) { return own.model().problem(); },
          "What it predicts: regression, single_label_classification or "
          "multi_label_classification.")
      .def("classify", &classify, "texts"_a, "pairs"_a = nb::none(),
           "The classes of each text. What is too long for the model is cut at its end.");
  bind_task<Tagger>(module, "Tagger", "Finds names and other parts in texts of any length.")
      .def("tag", &tag, "texts"_a, nb::kw_only(), "aggregation"_a = "first",
           "The tagged parts of each text. `aggregation` of the pieces of a word: first, average, "
           "max, simple or none.");
  bind_task<Answerer>(module, "Answerer", "Answers questions from texts of any length.")
      .def("answer", &answer, "questions"_a, "contexts"_a, nb::kw_only(), "top_k"_a = 5,
           "max_answer_tokens"_a = 30, "may_have_no_answer"_a = false,
           "The answers to each question from its context.");
  bind_task<Filler>(module, "Filler", "Fills blanks: each [MASK] of a text.")
      .def("fill", &fill, "texts"_a, nb::kw_only(), "top_k"_a = 5,
           "The blanks of each text, with the words for each.");
}

}  // namespace cloze_python
