// cloze_runtime for C++17: cloze_runtime.h with objects that close themselves, strings, vectors and
// exceptions. Header only; link libcloze_runtime.
//
//   cloze_runtime::Model model("model.cloze");
//   cloze_runtime::Client client(model);
//   for (const auto& one : client.classify({"a fine film", "a dull one"})) {
//     std::cout << one.classes[0].label << " " << one.classes[0].probability << "\n";
//   }
//
// What fails throws Error, which says why and what to do. Threads and numbers are as in
// cloze_runtime.h. A client and a tokenizer keep their model open. Places are bytes of the text.
#ifndef CLOZE_RUNTIME_HPP_
#define CLOZE_RUNTIME_HPP_

#include <cloze_runtime.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cloze_runtime {

class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, int status = 2)
      : std::runtime_error(message), status_(status) {}
  // Who can act: as cloze_last_error_status().
  int status() const { return status_; }

 private:
  int status_;
};

namespace internal {

// Throws what the library says of its latest failure.
[[noreturn]] inline void fail() { throw Error(cloze_last_error(), cloze_last_error_status()); }

template <class Pointer>
Pointer checked(Pointer pointer) {
  if (pointer == nullptr) fail();
  return pointer;
}
inline int64_t checked(int64_t number) {
  if (number < 0) fail();
  return number;
}
inline double checked(double number) {
  if (std::isnan(number)) fail();
  return number;
}

// Views of texts, as the library takes them.
class Texts {
 public:
  Texts() = default;
  template <class Text>
  explicit Texts(const std::vector<Text>& texts) {
    for (const Text& text : texts) add(text);
  }
  // An empty view may lead nowhere, which the library takes for no text.
  void add(std::string_view text) {
    views_.push_back(
        {text.data() == nullptr ? "" : text.data(), static_cast<int64_t>(text.size())});
  }
  // NULL where there is none.
  const cloze_text* data() const { return views_.empty() ? nullptr : views_.data(); }
  int64_t size() const { return static_cast<int64_t>(views_.size()); }

 private:
  std::vector<cloze_text> views_;
};

// Throws where there are pairs, but not one for each text.
template <class Text>
void check_pairs(const std::vector<Text>& texts, const std::vector<Text>& pairs) {
  if (pairs.empty() || pairs.size() == texts.size()) return;
  throw Error(std::to_string(texts.size()) + " texts have " + std::to_string(pairs.size()) +
              " second texts; give one for each, or none");
}

struct CloseResult {
  void operator()(cloze_result* result) const { cloze_result_close(result); }
};
using Result = std::unique_ptr<cloze_result, CloseResult>;

}  // namespace internal

inline std::string version() { return cloze_version(); }

// "avx2", "avx512", "avx512_bf16" or "amx"; before the first model is opened.
inline void limit_instruction_set(const std::string& name) {
  internal::checked(int64_t{cloze_limit_instruction_set(name.c_str())});
}

class Model {
 public:
  // A packed model, a model folder, or the prefix of a TensorFlow checkpoint.
  explicit Model(const std::string& path)
      : handle_(internal::checked(cloze_model_open(path.c_str())), cloze_model_close) {}

  std::string architecture() const { return cloze_model_architecture(handle()); }
  // "regression", "single_label_classification", "multi_label_classification"; "" for other models.
  std::string problem() const { return cloze_model_problem(handle()); }
  int64_t positions() const { return cloze_model_positions(handle()); }
  int64_t vocabulary() const { return cloze_model_vocabulary(handle()); }
  // Of a vector that it makes.
  int64_t dimensions() const { return internal::checked(cloze_model_dimensions(handle())); }
  std::vector<std::string> labels() const {
    std::vector<std::string> all;
    for (int64_t i = 0; i < cloze_model_labels(handle()); ++i) {
      all.push_back(cloze_model_label(handle(), i));
    }
    return all;
  }
  std::vector<std::string> notes() const {
    std::vector<std::string> all;
    for (int64_t i = 0; i < cloze_model_notes(handle()); ++i) {
      all.push_back(cloze_model_note(handle(), i));
    }
    return all;
  }

  const cloze_model* handle() const { return handle_.get(); }
  const std::shared_ptr<cloze_model>& shared() const { return handle_; }

 private:
  std::shared_ptr<cloze_model> handle_;
};

// A text, or a pair of texts, cut into tokens; the vectors have an entry for each of them.
struct Encoding {
  std::vector<int32_t> ids;
  std::vector<int32_t> types;   // 0 of the first text, 1 of the second
  std::vector<bool> special;    // [CLS] and [SEP] that were added
  std::vector<int64_t> begins;  // in the token's own text
  std::vector<int64_t> ends;    // exclusive
  int64_t cut = 0;              // tokens that were too many
  int64_t invalid = 0;          // stretches that are not UTF-8
};

struct EncodeOptions {
  int64_t max_tokens = 0;  // of a sequence; 0: any number
  bool adds_special_tokens = true;
  int num_threads = 1;  // 0: all processors
};

// Texts cut into tokens, their sequences laid end to end, as the arrays of cloze_runtime.h are.
// Copies of it lead to the same arrays, which live until the last is gone. Without texts they are NULL.
class Encodings {
 public:
  Encodings() = default;
  explicit Encodings(cloze_encoding* encoding) : handle_(encoding, cloze_encoding_close) {}

  int64_t sequences() const { return handle_ ? cloze_encoding_sequences(handle_.get()) : 0; }
  int64_t tokens() const { return handle_ ? cloze_encoding_tokens(handle_.get()) : 0; }
  // [sequences]
  const int64_t* lengths() const { return array(cloze_encoding_lengths); }
  const int64_t* cut() const { return array(cloze_encoding_cut); }
  const int64_t* invalid() const { return array(cloze_encoding_invalid); }
  // [tokens]
  const int32_t* ids() const { return array(cloze_encoding_ids); }
  const int32_t* types() const { return array(cloze_encoding_types); }
  const uint8_t* special() const { return array(cloze_encoding_special); }
  const int64_t* begins() const { return array(cloze_encoding_begins); }
  const int64_t* ends() const { return array(cloze_encoding_ends); }

 private:
  template <class Element>
  const Element* array(const Element* (*of)(const cloze_encoding*)) const {
    return handle_ ? of(handle_.get()) : nullptr;
  }

  std::shared_ptr<const cloze_encoding> handle_;
};

class Tokenizer {
 public:
  // A folder with a tokenizer, its vocab.txt or tokenizer.json, or a packed model.
  explicit Tokenizer(const std::string& path)
      : handle_(internal::checked(cloze_tokenizer_open(path.c_str())),
                [](const cloze_tokenizer* own) {
                  cloze_tokenizer_close(const_cast<cloze_tokenizer*>(own));
                }) {}
  explicit Tokenizer(const Model& model)
      : handle_(model.shared(), cloze_model_tokenizer(model.handle())) {}

  int64_t size() const { return cloze_tokenizer_size(handle()); }
  std::string token(int32_t id) const { return internal::checked(cloze_token(handle(), id)); }
  int32_t id(const std::string& token) const {
    const int64_t id = cloze_token_id(handle(), token.c_str());
    return static_cast<int32_t>(internal::checked(id));
  }
  // Special tokens are not counted.
  int64_t count(std::string_view text) const {
    const cloze_text view{text.data() == nullptr ? "" : text.data(),
                          static_cast<int64_t>(text.size())};
    return internal::checked(cloze_count_tokens(handle(), &view));
  }

  // One for each text; `pairs` are their second texts, or none.
  std::vector<Encoding> encode(const std::vector<std::string>& texts,
                               const std::vector<std::string>& pairs = {},
                               const EncodeOptions& options = {}) const {
    return taken_apart(encode_together(texts, pairs, options));
  }
  // The same without a copy for each text: the quickest way for many. Text is std::string or
  // std::string_view.
  template <class Text>
  Encodings encode_together(const std::vector<Text>& texts, const std::vector<Text>& pairs = {},
                            const EncodeOptions& options = {}) const {
    internal::check_pairs(texts, pairs);
    if (texts.empty()) return {};
    const internal::Texts first(texts), second(pairs);
    const int flags = options.adds_special_tokens ? 0 : CLOZE_WITHOUT_SPECIAL_TOKENS;
    return Encodings(
        internal::checked(cloze_encode(handle(), first.data(), second.data(), first.size(),
                                       options.max_tokens, flags, options.num_threads)));
  }
  Encoding encode(const std::string& text, const EncodeOptions& options = {}) const {
    return encode(std::vector<std::string>{text}, {}, options)[0];
  }

  std::string decode(const std::vector<int32_t>& ids, bool skips_special_tokens = true) const {
    const int flags = skips_special_tokens ? CLOZE_WITHOUT_SPECIAL_TOKENS : 0;
    const auto count = static_cast<int64_t>(ids.size());
    const auto write = [&](char* buffer, int64_t size) {
      return internal::checked(cloze_decode(handle(), ids.data(), count, flags, buffer, size));
    };
    std::string text(static_cast<size_t>(write(nullptr, 0)), '\0');
    write(text.data(), static_cast<int64_t>(text.size()) + 1);
    return text;
  }

  const cloze_tokenizer* handle() const { return handle_.get(); }

 private:
  static std::vector<Encoding> taken_apart(const Encodings& all) {
    std::vector<Encoding> parts;
    int64_t begin = 0;
    for (int64_t i = 0; i < all.sequences(); ++i) {
      const int64_t end = begin + all.lengths()[i];
      const auto part = [&](const auto* numbers) {
        return std::vector<std::decay_t<decltype(*numbers)>>(numbers + begin, numbers + end);
      };
      const auto* special = all.special();
      parts.push_back({part(all.ids()), part(all.types()),
                       std::vector<bool>(special + begin, special + end), part(all.begins()),
                       part(all.ends()), all.cut()[i], all.invalid()[i]});
      begin = end;
    }
    return parts;
  }

  std::shared_ptr<const cloze_tokenizer> handle_;
};

// What was read of a text.
struct Reading {
  int64_t tokens = 0;   // special ones not counted
  int64_t unknown = 0;  // of these, [UNK]
  int64_t cut = 0;      // tokens that were too many for the model
};

struct ClassItem {
  std::string label;
  double probability = 0.0;  // of a regression the number that is predicted
  int64_t number = 0;        // of the class
};
struct Classification {
  std::vector<ClassItem> classes;  // the most probable first
  int64_t num_holding = 1;         // so many of the first hold
  Reading reading;
};

struct TagItem {
  std::string label;
  std::string text;
  double probability = 0.0;
  int64_t begin = 0, end = 0;
};
struct Tags {
  std::vector<TagItem> tags;  // in the order of the text
  Reading reading;
};

struct AnswerItem {
  std::string text;  // "": no answer
  double probability = 0.0;
  int64_t begin = 0, end = 0;  // of the context
};
struct Answers {
  std::vector<AnswerItem> answers;  // the most probable first
  Reading reading;
};

struct WordItem {
  std::string token;
  double probability = 0.0;
  int64_t id = 0;
};
struct Blank {
  int64_t text = 0;  // its number
  int64_t begin = 0, end = 0;
  std::vector<WordItem> words;  // the most probable first
};

struct ChoiceItem {
  int64_t number = 0;  // of the choice
  double probability = 0.0;
};
struct Choice {
  std::vector<ChoiceItem> choices;  // the most probable first
  Reading reading;
};

struct AnswerOptions {
  int64_t top_k = 5;
  int64_t max_answer_tokens = 0;  // 0: 30
  bool may_have_no_answer = false;
};

// How vectors are made of texts.
struct EmbeddingOptions {
  std::optional<std::string> prompt =
      std::nullopt;        // put before each text; nothing: the model's own
  int64_t dimensions = 0;  // the first so many numbers; 0: all
};

// One thread uses a client at a time.
class Client {
 public:
  // num_threads run a batch together; 0: all processors.
  explicit Client(const Model& model, int num_threads = 1)
      : model_(model), handle_(internal::checked(cloze_client_open(model.handle(), num_threads))) {}

  std::vector<Classification> classify(const std::vector<std::string>& texts,
                                       const std::vector<std::string>& pairs = {}) {
    internal::check_pairs(texts, pairs);
    if (texts.empty()) return {};
    const internal::Texts first(texts), second(pairs);
    const internal::Result result(
        internal::checked(cloze_classify(handle(), first.data(), second.data(), first.size())));
    return rows<Classification>(result.get(), [&](int64_t row, Classification& one) {
      one.num_holding = cloze_result_holding(result.get(), row);
      one.reading = reading(result.get(), row);
      one.classes = items<ClassItem>(result.get(), row, [&](int64_t item, ClassItem& each) {
        each = {cloze_result_label(result.get(), row, item),
                cloze_result_probability(result.get(), row, item),
                cloze_result_number(result.get(), row, item)};
      });
    });
  }

  // A vector of each text, by a model of sentence-transformers' form.
  std::vector<std::vector<float>> embed(const std::vector<std::string>& texts,
                                        const EmbeddingOptions& options = {}) {
    if (texts.empty()) return {};
    const auto width =
        static_cast<size_t>(options.dimensions > 0 ? options.dimensions : model_.dimensions());
    std::vector<float> all(texts.size() * width);
    embed(texts, options, all.data());
    std::vector<std::vector<float>> vectors;
    for (size_t i = 0; i < texts.size(); ++i) {
      const float* begin = all.data() + i * width;
      vectors.emplace_back(begin, begin + width);
    }
    return vectors;
  }

  // The same into [texts, dimensions] numbers of the caller's. Text is std::string or
  // std::string_view.
  template <class Text>
  void embed(const std::vector<Text>& texts, const EmbeddingOptions& options, float* vectors) {
    const internal::Texts first(texts);
    if (texts.empty()) return;
    internal::checked(int64_t{cloze_embed(handle(), first.data(), first.size(),
                                          options.prompt ? options.prompt->c_str() : nullptr,
                                          options.dimensions, vectors)});
  }

  // aggregation: "first", "average", "max", "simple", "none".
  std::vector<Tags> tag(const std::vector<std::string>& texts,
                        const std::string& aggregation = "first") {
    if (texts.empty()) return {};
    const internal::Texts first(texts);
    const internal::Result result(
        internal::checked(cloze_tag(handle(), first.data(), first.size(), aggregation.c_str())));
    return rows<Tags>(result.get(), [&](int64_t row, Tags& one) {
      one.reading = reading(result.get(), row);
      one.tags = items<TagItem>(result.get(), row, [&](int64_t item, TagItem& each) {
        each = {cloze_result_label(result.get(), row, item), "",
                cloze_result_probability(result.get(), row, item),
                cloze_result_begin(result.get(), row, item),
                cloze_result_end(result.get(), row, item)};
        const auto begin = static_cast<size_t>(each.begin);
        each.text =
            texts[static_cast<size_t>(row)].substr(begin, static_cast<size_t>(each.end) - begin);
      });
    });
  }

  // A context for each question.
  std::vector<Answers> answer(const std::vector<std::string>& questions,
                              const std::vector<std::string>& contexts,
                              const AnswerOptions& options = {}) {
    if (questions.size() != contexts.size()) {
      throw Error(std::to_string(questions.size()) + " questions have " +
                  std::to_string(contexts.size()) + " contexts; give one for each");
    }
    if (questions.empty()) return {};
    const internal::Texts first(questions), second(contexts);
    const int flags = options.may_have_no_answer ? CLOZE_MAY_HAVE_NO_ANSWER : 0;
    const internal::Result result(
        internal::checked(cloze_answer(handle(), first.data(), second.data(), first.size(),
                                       options.top_k, options.max_answer_tokens, flags)));
    return rows<Answers>(result.get(), [&](int64_t row, Answers& one) {
      one.reading = reading(result.get(), row);
      one.answers = items<AnswerItem>(result.get(), row, [&](int64_t item, AnswerItem& each) {
        each = {cloze_result_text(result.get(), row, item),
                cloze_result_probability(result.get(), row, item),
                cloze_result_begin(result.get(), row, item),
                cloze_result_end(result.get(), row, item)};
      });
    });
  }

  // Each [MASK] of each text, in their order.
  std::vector<Blank> fill(const std::vector<std::string>& texts, int64_t top_k = 5) {
    if (texts.empty()) return {};
    const internal::Texts first(texts);
    const internal::Result result(
        internal::checked(cloze_fill(handle(), first.data(), first.size(), top_k)));
    return rows<Blank>(result.get(), [&](int64_t row, Blank& one) {
      one.text = cloze_result_input(result.get(), row);
      one.begin = cloze_result_begin(result.get(), row, 0);
      one.end = cloze_result_end(result.get(), row, 0);
      one.words = items<WordItem>(result.get(), row, [&](int64_t item, WordItem& each) {
        each = {cloze_result_text(result.get(), row, item),
                cloze_result_probability(result.get(), row, item),
                cloze_result_number(result.get(), row, item)};
      });
    });
  }

  // The choices of each text, 2 or more.
  std::vector<Choice> choose(const std::vector<std::string>& texts,
                             const std::vector<std::vector<std::string>>& choices,
                             const std::vector<std::string>& pairs = {}) {
    internal::check_pairs(texts, pairs);
    if (texts.size() != choices.size()) {
      throw Error(std::to_string(texts.size()) + " texts have " + std::to_string(choices.size()) +
                  " lists of choices; give one for each");
    }
    if (texts.empty()) return {};
    const internal::Texts first(texts), second(pairs);
    internal::Texts all;
    std::vector<int64_t> counts;
    for (const std::vector<std::string>& some : choices) {
      counts.push_back(static_cast<int64_t>(some.size()));
      for (const std::string& one : some) all.add(one);
    }
    const internal::Result result(internal::checked(cloze_choose(
        handle(), first.data(), second.data(), all.data(), counts.data(), first.size())));
    return rows<Choice>(result.get(), [&](int64_t row, Choice& one) {
      one.reading = reading(result.get(), row);
      one.choices = items<ChoiceItem>(result.get(), row, [&](int64_t item, ChoiceItem& each) {
        each = {cloze_result_number(result.get(), row, item),
                cloze_result_probability(result.get(), row, item)};
      });
    });
  }

  cloze_client* handle() const { return handle_.get(); }

 private:
  struct Close {
    void operator()(cloze_client* client) const { cloze_client_close(client); }
  };

  static Reading reading(const cloze_result* result, int64_t row) {
    return {cloze_result_tokens(result, row), cloze_result_unknown_tokens(result, row),
            cloze_result_cut_tokens(result, row)};
  }
  template <class Row, class Set>
  static std::vector<Row> rows(const cloze_result* result, const Set& set) {
    std::vector<Row> all(static_cast<size_t>(cloze_result_rows(result)));
    for (size_t row = 0; row < all.size(); ++row) set(static_cast<int64_t>(row), all[row]);
    return all;
  }
  template <class Item, class Set>
  static std::vector<Item> items(const cloze_result* result, int64_t row, const Set& set) {
    std::vector<Item> all(static_cast<size_t>(cloze_result_items(result, row)));
    for (size_t item = 0; item < all.size(); ++item) set(static_cast<int64_t>(item), all[item]);
    return all;
  }

  Model model_;  // stays open
  std::unique_ptr<cloze_client, Close> handle_;
};

// How samples of pre-training are drawn: as cloze_drawing, with the defaults of `cloze pretrain`.
struct Drawing {
  int64_t seq_length = 128;
  int64_t max_predictions = 20;
  double mask_probability = 0.15;
  double short_probability = 0.1;
  bool whole_words = false;
  int32_t next_sentence = CLOZE_NEXT_RANDOM;
  uint64_t seed = 0;
};

// A token store as samples to train on by other means.
class Dataset {
 public:
  explicit Dataset(const std::string& store, const Drawing& drawing = {})
      : handle_(opened(store, drawing), cloze_dataset_close) {}

  // Of an epoch.
  int64_t samples() const { return internal::checked(cloze_dataset_samples(handle())); }
  const cloze_dataset* handle() const { return handle_.get(); }

 private:
  static cloze_dataset* opened(const std::string& store, const Drawing& from) {
    const cloze_drawing drawing{from.seq_length,
                                from.max_predictions,
                                from.mask_probability,
                                from.short_probability,
                                from.whole_words ? 1 : 0,
                                from.next_sentence,
                                from.seed};
    return internal::checked(cloze_dataset_open(store.c_str(), &drawing));
  }

  std::shared_ptr<cloze_dataset> handle_;
};

// One batch after the other, without end. One thread uses it at a time.
class Batches {
 public:
  Batches(const Dataset& dataset, int64_t batch_size, int64_t first_batch = 0, int num_threads = 1)
      : handle_(internal::checked(
            cloze_batches_open(dataset.handle(), batch_size, first_batch, num_threads))) {}

  void next() { internal::checked(int64_t{cloze_batches_next(handle_.get())}); }
  // Numbers of the batch by name (cloze_batches_numbers).
  std::vector<int32_t> numbers(const std::string& name) const {
    int64_t count = 0;
    const int32_t* begin =
        internal::checked(cloze_batches_numbers(handle_.get(), name.c_str(), &count));
    return {begin, begin + count};
  }

 private:
  struct Close {
    void operator()(cloze_batches* batches) const { cloze_batches_close(batches); }
  };
  std::unique_ptr<cloze_batches, Close> handle_;
};

}  // namespace cloze_runtime

#endif  // CLOZE_RUNTIME_HPP_
