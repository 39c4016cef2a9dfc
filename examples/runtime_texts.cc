// Runs a model on texts and prints what it says of them, as `cloze classify`, `tag`, `answer`, `fill`
// and `choose` do; of a text encoder the vectors:
//
//   runtime_texts MODEL 'a fine film'              what the model's head is for, for each text
//   runtime_texts MODEL QUESTION CONTEXT           of a model that answers
//   runtime_texts MODEL TEXT CHOICE CHOICE         of one that chooses
//   runtime_texts --tokens MODEL 'a fine film'     tokens with their places
//
// MODEL is a folder, or a file of `cloze compile`. Outside this repository:
//   c++ -std=c++17 runtime_texts.cc $(pkg-config --cflags --libs cloze_runtime)
#include <cloze_runtime.hpp>

#include <cstdio>
#include <string>
#include <vector>

namespace {

using cloze_runtime::Client;
using cloze_runtime::Model;
using Texts = std::vector<std::string>;

void print_tokens(const std::string& path, const Texts& texts) {
  const cloze_runtime::Tokenizer tokenizer(path);
  for (const cloze_runtime::Encoding& one : tokenizer.encode(texts)) {
    for (size_t i = 0; i < one.ids.size(); ++i) {
      std::printf("%d\t%s\t[%lld, %lld)\n", one.ids[i], tokenizer.token(one.ids[i]).c_str(),
                  static_cast<long long>(one.begins[i]), static_cast<long long>(one.ends[i]));
    }
  }
}

void classify(Client& client, const Texts& texts, bool is_regression) {
  for (const cloze_runtime::Classification& one : client.classify(texts)) {
    if (is_regression) {
      std::printf("%.4f\n", one.classes[0].probability);
      continue;
    }
    for (int64_t i = 0; i < one.num_holding; ++i) {
      const cloze_runtime::ClassItem& item = one.classes[static_cast<size_t>(i)];
      std::printf("%s%s\t%.4f", i == 0 ? "" : "\t", item.label.c_str(), item.probability);
    }
    std::puts(one.num_holding == 0 ? "-" : "");
  }
}

void tag(Client& client, const Texts& texts) {
  for (const cloze_runtime::Tags& one : client.tag(texts)) {
    for (const cloze_runtime::TagItem& item : one.tags) {
      std::printf("%s\t%.4f\t%s\t[%lld, %lld)\n", item.label.c_str(), item.probability,
                  item.text.c_str(), static_cast<long long>(item.begin),
                  static_cast<long long>(item.end));
    }
  }
}

void answer(Client& client, const std::string& question, const std::string& context) {
  const cloze_runtime::Answers answers = client.answer({question}, {context})[0];
  for (const cloze_runtime::AnswerItem& item : answers.answers) {
    std::printf("%6.2f %%  %s  [%lld, %lld)\n", 100 * item.probability, item.text.c_str(),
                static_cast<long long>(item.begin), static_cast<long long>(item.end));
  }
}

void fill(Client& client, const Texts& texts) {
  for (const cloze_runtime::Blank& blank : client.fill(texts)) {
    std::printf("  [%lld, %lld)\n", static_cast<long long>(blank.begin),
                static_cast<long long>(blank.end));
    for (const cloze_runtime::WordItem& item : blank.words) {
      std::printf("  %6.2f %%  %s\n", 100 * item.probability, item.token.c_str());
    }
  }
}

void embed(Client& client, const Texts& texts) {
  for (const std::vector<float>& vector : client.embed(texts)) {
    for (size_t i = 0; i < vector.size(); ++i) std::printf("%s%.9g", i == 0 ? "" : " ", vector[i]);
    std::puts("");
  }
}

void choose(Client& client, const std::string& text, const Texts& choices) {
  const cloze_runtime::Choice one = client.choose({text}, {choices})[0];
  const auto best = static_cast<size_t>(one.choices[0].number);
  std::printf("%s\t%.4f\n", choices[best].c_str(), one.choices[0].probability);
}

// The end of a GroupBERT's architecture is that of a BERT's.
bool is_for(const Model& model, const std::string& use) {
  return model.architecture().find("For" + use) != std::string::npos;
}

void run(const Model& model, const Texts& texts) {
  Client client(model);
  if (is_for(model, "QuestionAnswering")) {
    answer(client, texts.front(), texts.back());
  } else if (is_for(model, "MultipleChoice")) {
    choose(client, texts[0], {texts.begin() + 1, texts.end()});
  } else if (is_for(model, "TokenClassification")) {
    tag(client, texts);
  } else if (is_for(model, "PreTraining")) {
    fill(client, texts);
  } else if (is_for(model, "SequenceClassification")) {
    classify(client, texts, model.problem() == "regression");
  } else {
    embed(client, texts);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Texts words(argv + 1, argv + argc);
  const bool wants_tokens = !words.empty() && words[0] == "--tokens";
  if (wants_tokens) words.erase(words.begin());
  if (words.size() < 2) {
    std::fputs("runtime_texts: give a model and a text\n", stderr);
    return 1;
  }
  try {
    const Texts texts(words.begin() + 1, words.end());
    if (wants_tokens) {
      print_tokens(words[0], texts);
    } else {
      run(Model(words[0]), texts);
    }
  } catch (const cloze_runtime::Error& error) {
    std::fprintf(stderr, "runtime_texts: %s\n", error.what());
    return 1;
  }
  return 0;
}
