// SQuAD features: each question with each window of its context, as one sequence
//
//   [CLS] question [SEP] window of the context [SEP]
//
// in one of two published forms. Both cut the context into windows that overlap.
//
//                    google                              hugging face
//   source           run_squad.py (2018)                 transformers' run_qa.py, fast tokenizer
//   context          words at space, tab, CR, LF and     the text as it is
//                    U+202F, tokens of each word
//   question         its first max_query_length tokens   all of it
//   next window      doc_stride tokens further           overlaps by doc_stride tokens
//   answers from     the window where the start has      every window
//                    most context
//   label            the words of the answer, then the   the tokens around the answer's
//                    first tokens in them that equal     characters
//                    the answer's
//   answer that is   the question is left out            labelled by its place
//   not at its place
//   empty context    no window                           one window
//
// Labels differ from run_qa.py's where those make no sense: an answer that begins in a window's
// last token begins there, not in the padding, and a character of several tokens does not end
// before it begins.
//
// A context is tokenised once for all its questions and a window is 28 bytes; sequences are made
// when asked for (squad_sample). Time and memory grow with the text, not with its square.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/sample.h"
#include "data/sequence.h"
#include "tasks/squad/squad_context.h"
#include "tasks/squad/squad_data.h"
#include "text/tokenizer.h"

namespace cloze::tasks {

struct SquadFeatureOptions {
  int64_t max_sequence_length = 384;
  int64_t document_stride = 128;
  int64_t max_query_length = 64;  // google only
  SquadStyle style = SquadStyle::kGoogle;
  // True: windows say where the first answer of their question is. Then a question that has no
  // answer, and is not said to be impossible, is an error.
  bool with_labels = false;
  int threads = 1;
};

struct SquadWindow {
  uint32_t question = 0;                  // index into SquadData::questions
  uint32_t begin = 0, end = 0;            // tokens of the context
  uint32_t best_begin = 0, best_end = 0;  // tokens that an answer may start at here
  // The first and last token of the answer in the sequence; 0: not in this window; -1: no labels.
  int32_t start_position = -1, end_position = -1;
};

struct SquadFeatures {
  std::vector<SquadContext> contexts;           // as SquadData::contexts
  std::vector<std::vector<int32_t>> questions;  // ids, as SquadData::questions
  std::vector<int64_t> question_tokens;         // before they were cut
  std::vector<SquadWindow> windows;             // in the order of the questions
  std::vector<size_t> first_window;  // of each question; one more at the end: number of windows
  std::vector<size_t> misplaced;     // questions whose answer's text is not at its place
  SquadStyle style = SquadStyle::kGoogle;
  data::BorderIds borders;

  std::span<const SquadWindow> windows_of(size_t question) const {
    return std::span(windows).subspan(first_window[question],
                                      first_window[question + 1] - first_window[question]);
  }
  // The place where the context begins in the sequences of a question.
  uint32_t context_position(size_t question) const {
    return static_cast<uint32_t>(questions[question].size()) + 2;
  }
};

// Errors: UserError when the sequences leave no room for the context (or in the form of hugging
// face, none for a step), naming the sizes and the question; DataError for a question without
// answer when there are labels.
SquadFeatures make_squad_features(const SquadData& data, const text::Tokenizer& tokenizer,
                                  const SquadFeatureOptions& options);

// The sequence of a window, without padding.
data::Sample squad_sample(const SquadData& data, const SquadFeatures& features,
                          const SquadWindow& window);

}  // namespace cloze::tasks
