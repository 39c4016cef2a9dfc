// Recognises the form (corpus_text.h) of texts by what they show.
//
// Markup and JSON show at the beginning. Plain text shows its form by its lines, of which a part is
// looked at, up to 64 KiB from its beginning and as much from its middle:
//   wrapped      lines that another line follows are full: the next one's first word would have
//                made them longer than the longest lines of the text; and sentences end inside
//                lines, seldom with them. Or lines of several sentences stand alone between
//                blank lines. A line that is indented further than others begins a paragraph
//   paragraphs   else, when a fifth of the lines or more hold several sentences
//   sentences    otherwise
// Where the lines of a text are too few to tell, all of the texts together decide; and where these
// are, they are taken for sentences.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/corpus/corpus_text.h"

namespace cloze::data {

// Counts what the lines of plain texts show.
class LineEvidence {
 public:
  LineEvidence() = default;
  explicit LineEvidence(std::string_view text);

  LineEvidence& operator+=(const LineEvidence& other);
  // Returns nothing when the lines are too few to tell.
  std::optional<TextFormat> form() const;

 private:
  struct Widths;

  void look_at(std::string_view lines, Widths& widths);
  bool may_be_wrapped() const;
  bool is_wrapped() const;
  int64_t ends_inside() const { return sentences_ - lines_; }  // of sentences, inside lines

  int64_t lines_ = 0;                  // that are not blank
  int64_t sentences_ = 0;              // in them, each cut by itself
  int64_t lines_of_several_ = 0;       // that hold several sentences
  int64_t lone_lines_of_several_ = 0;  // of these, between blank lines
  int64_t inner_lines_ = 0;            // that another line follows
  int64_t full_lines_ = 0;             // of these, where its first word had no room
  int64_t ended_lines_ = 0;            // of these, with a stop at the end
};

struct RecognisedForm {
  TextFormat format = TextFormat::kSentences;
  bool is_certain = true;
  bool operator==(const RecognisedForm&) const = default;
};

// The forms of texts, in their order. Looks at several at once on `threads` threads.
std::vector<RecognisedForm> recognised_forms(const std::vector<std::string_view>& texts,
                                             int threads);

// "read b.txt and 11 more as paragraphs (one a line), a.txt as wrapped (of any number of lines, with
// blank lines between paragraphs); set --input-format to read them otherwise"
std::string describe_forms(const std::vector<std::filesystem::path>& files,
                           const std::vector<RecognisedForm>& forms);

}  // namespace cloze::data
