#include "data/creation/create_records.h"

#include "base/error.h"
#include "data/creation/make_records.h"
#include "data/creation/record_output.h"

namespace cloze::data {
namespace {

int64_t documents_of_one_sentence(const Corpus& corpus) {
  int64_t count = 0;
  for (int64_t document = 0; document < corpus.documents(); ++document) {
    count += corpus.sentences_in(document) == 1 ? 1 : 0;
  }
  return count;
}

class RecordCreation {
 public:
  RecordCreation(const RecordOptions& options, const text::Tokenizer& tokenizer,
                 CreationProgress& progress)
      : options_(options),
        vocabulary_(tokenizer.vocabulary()),
        progress_(progress),
        output_(options, tokenizer, progress),
        reader_(corpus_options_of(options), tokenizer, progress) {}

  RecordCounts run(const std::function<void(const std::string&)>& notice) {
    output_.check_input(reader_.text_digest());
    if (output_.was_interrupted()) notice(what_was_left());
    if (!output_.is_complete()) make();
    output_.commit();
    return state().counts;
  }

 private:
  RecordState& state() { return output_.state(); }

  // Keeps nothing after a user error: it would only occur again.
  void make() {
    try {
      if (!state().text_is_read) read_text();
      make_records();
    } catch (const UserError&) {
      output_.discard();
      throw;
    }
  }

  std::string what_was_left() {
    const RecordState& left = state();
    return "continuing where this was interrupted, " +
           (left.text_is_read ? fmt::format("after {} records, {} of them written", left.made,
                                            left.counts.instances)
                              : "in the text");
  }

  void read_text() {
    StoredCorpusWriter corpus(output_.corpus(), vocabulary_.size());
    reader_.go_on_at(state().position);
    while (reader_.read_round(corpus)) {
      state().position = reader_.position();
      output_.save();
    }
    if (corpus.documents() == 0) {
      throw_user_error(
          "the corpus is empty: no sentence in {} file(s), the first is {}",
          options_.input.files.size(),
          options_.input.files.empty() ? "missing" : options_.input.files.front().string());
    }
    count(StoredCorpus(output_.corpus(), vocabulary_.size()));
    state().text_is_read = true;
    output_.save();
  }

  void count(const StoredCorpus& corpus) {
    RecordCounts& counts = state().counts;
    counts.documents = corpus.documents();
    counts.documents_of_one_sentence = documents_of_one_sentence(corpus);
    counts.sentences = corpus.sentences();
    counts.text_tokens = corpus.tokens();
    counts.invalid_utf8 = reader_.position().invalid_utf8;
  }

  void make_records() {
    const StoredCorpus corpus(output_.corpus(), vocabulary_.size());
    progress_.passes = progress_.passes_before = state().passes;
    progress_.instances = progress_.instances_before = state().made;
    progress_.written = state().counts.instances;
    progress_.total_passes = options_.duplication_factor * corpus.documents();
    const auto make = options_.google_compatible ? make_records_as_google : make_records_in_windows;
    make(options_, corpus, vocabulary_, progress_, output_);
  }

  const RecordOptions& options_;
  const text::Vocabulary& vocabulary_;
  CreationProgress& progress_;
  RecordOutput output_;
  CorpusReader reader_;
};

}  // namespace

RecordCounts create_records(const RecordOptions& options, const text::Tokenizer& tokenizer,
                            CreationProgress& progress,
                            const std::function<void(const std::string&)>& notice) {
  check_record_options(options);
  return RecordCreation(options, tokenizer, progress).run(notice);
}

}  // namespace cloze::data
