#include "data/token_store/text_piece.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "formats/xxh3.h"

namespace cloze::data {
namespace {

constexpr size_t kMaxDocumentPieces = 8;
// Any change that gives other tokens for the same text and rules must change this, or, where only
// sentences are split otherwise, kSplitterVersion.
constexpr std::string_view kTokenizerVersion = "cloze tokens 2";

// The part of a key for rules that are not the usual ones. Empty for the usual ones, so that shards
// of earlier versions keep their names.
std::string unusual_rules(const text::TokenizerOptions& rules) {
  std::string text;
  if (rules.strips_accents() != rules.lower_case) {
    text += fmt::format("strip_accents {}\n", rules.strips_accents());
  }
  if (!rules.tokenize_chinese_chars) text += "tokenize_chinese_chars false\n";
  return text;
}

// The same for what is read of JSON Lines.
std::string unusual_reading(const TextForm& form) {
  if (form.format != TextFormat::kJsonLines) return "";
  std::string text;
  if (form.json_key != TextForm().json_key) text += fmt::format("json_key {}\n", form.json_key);
  if (form.skip_bad_lines) text += "skip_bad_lines\n";
  return text;
}

// Finds the end of the piece of a text that begins at `begin`.
size_t piece_end(std::string_view text, size_t begin, TextFormat format, size_t piece_bytes) {
  if (text.size() - begin <= piece_bytes) return text.size();
  // A line of JSON is one document, and half of it is none.
  const bool may_cut = format != TextFormat::kJsonLines;
  const size_t longest =
      may_cut ? std::min(text.size(), begin + kMaxDocumentPieces * piece_bytes) : text.size();
  const size_t end = next_document(text.substr(0, longest), begin + piece_bytes, format);
  if (end < longest || longest == text.size()) return end;
  return last_paragraph(text, begin, longest, format);
}

}  // namespace

void TextPiece::add(std::string_view text, const TextSource& source) {
  parts_.push_back({text, &source});
  bytes_ += std::ssize(text);
}

std::string TextPiece::key(const TokenRules& rules) const {
  formats::Xxh3Digest digest;
  digest.update(fmt::format("{}\n{}\n{}\n{}\n{}\n", kTokenizerVersion, rules.vocabulary,
                            text::profile_name(rules.tokenizer.profile),
                            rules.tokenizer.lower_case, formats()));
  if (std::ranges::any_of(parts_, [](const Part& part) { return is_split(part.format()); })) {
    digest.update(fmt::format("{}\n{}\n{}\n{}\n", rules.splitter,
                              fmt::join(rules.habits.abbreviations, " "),
                              fmt::join(rules.habits.openers, " "), rules.habits.has_ordinals));
  }
  digest.update(unusual_rules(rules.tokenizer));
  for (const Part& part : parts_) {
    digest.update(unusual_reading(part.source->form()));
    digest.update(fmt::format("{}\n", part.text.size()));
    digest.update(part.text);
  }
  return digest.hex();
}

int64_t TextPiece::tokenize(const text::Tokenizer& tokenizer, const TokenRules& rules,
                            CorpusSink& corpus) const {
  const SentenceReader reader(rules.habits);
  uint64_t invalid = 0;
  std::vector<int32_t> ids;
  const auto append_sentence = [&](std::string_view sentence) {
    ids.clear();
    invalid += tokenizer.append_ids(sentence, ids);
    corpus.append_sentence(ids);
  };
  for (const Part& part : parts_) {
    try {
      reader.visit(part.text, part.source->form(),
                   {append_sentence, [&] { corpus.end_document(); }});
    } catch (const BadText& bad) {
      bad.rethrow_if_in(part.source->text(), part.source->path());
      throw;
    }
    corpus.end_document();
  }
  return static_cast<int64_t>(invalid);
}

// "paragraphs", or "sentences jsonl" of parts of several forms.
std::string TextPiece::formats() const {
  std::vector<std::string_view> names;
  for (const Part& part : parts_) names.push_back(text_format_name(part.format()));
  if (std::ranges::count(names, names.front()) == std::ssize(names)) names.resize(1);
  return fmt::format("{}", fmt::join(names, " "));
}

std::vector<TextPiece> cut_into_pieces(const std::vector<TextSource>& sources,
                                       int64_t piece_bytes) {
  std::vector<TextPiece> pieces;
  TextPiece open;
  for (const TextSource& source : sources) {
    const std::string_view text = source.text();
    size_t begin = 0;
    do {  // an empty file is a part, too
      const size_t end =
          piece_end(text, begin, source.format(), static_cast<size_t>(piece_bytes));
      open.add(text.substr(begin, end - begin), source);
      if (open.bytes() >= piece_bytes) pieces.push_back(std::exchange(open, {}));
      begin = end;
    } while (begin < text.size());
  }
  if (open.bytes() > 0) pieces.push_back(std::move(open));
  return pieces;
}

}  // namespace cloze::data
