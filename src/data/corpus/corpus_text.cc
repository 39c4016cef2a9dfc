#include "data/corpus/corpus_text.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "base/error.h"
#include "data/corpus/wrapped_text.h"
#include "formats/json.h"
#include "text/ascii.h"
#include "text/python_string.h"
#include "text/utf8.h"

namespace cloze::data {
namespace {

// Names in the order of the enumeration.
constexpr std::array<std::pair<TextFormat, std::string_view>, 7> kFormatNames = {
    {{TextFormat::kSentences, "sentences"},
     {TextFormat::kParagraphs, "paragraphs"},
     {TextFormat::kWrapped, "wrapped"},
     {TextFormat::kJsonLines, "jsonl"},
     {TextFormat::kWikiExtractor, "wikiextractor"},
     {TextFormat::kWikipedia, "wikipedia"},
     {TextFormat::kAuto, "auto"}}};

void visit_lines(std::string_view text, const ParagraphVisitor& visitor) {
  while (!text.empty()) {
    const std::string_view line = text::take_line(text);
    text::is_blank(line) ? visitor.document_end() : visitor.paragraph(line);
  }
}

// `"id", "url" and 7 more`
std::string listed_members(const formats::Json& object) {
  constexpr size_t kShown = 5;
  std::vector<std::string> names;
  for (const auto& [name, value] : object.items()) names.push_back(fmt::format("\"{}\"", name));
  const size_t shown = std::min(kShown, names.size());
  std::string list = fmt::format("{}", fmt::join(std::span(names).first(shown), ", "));
  if (names.size() > shown) list += fmt::format(" and {} more", names.size() - shown);
  return list;
}

// Says why the line holds no document; empty when it does.
std::string defect_of(const formats::Json& line, const std::string& key) {
  if (!line.is_object()) return fmt::format("is not a JSON object with a text \"{}\"", key);
  const formats::Json* const document = line.find(key);
  if (document != nullptr && document->is_string()) return "";
  if (document != nullptr) {
    return fmt::format("\"{}\" is not a text, but of the type {}", key, document->type_name());
  }
  if (line.empty()) return fmt::format("has no \"{}\"", key);
  return fmt::format("has no \"{}\", but {}; name one of these with --json-key", key,
                     listed_members(line));
}

// Half of a surrogate pair becomes U+FFFD, which BERT's tokenizers leave out.
std::string document_of(std::string_view line, const std::string& key) {
  const auto refuse = [&](const std::string& defect, uint64_t offset) {
    throw BadText{defect, line.data() + offset};
  };
  auto object = formats::parse_json(line);
  if (!object) object = formats::parse_json(formats::replace_lone_surrogates(line));
  if (!object) refuse(object.error().message, object.error().offset);
  if (const std::string defect = defect_of(*object, key); !defect.empty()) refuse(defect, 0);
  return object->at(key).get<std::string>();
}

void visit_json_line(std::string_view line, const TextForm& form, const ParagraphVisitor& visitor) {
  std::string document;
  try {
    document = document_of(line, form.json_key);
  } catch (const BadText& bad) {
    if (!form.skip_bad_lines) throw;
    return visitor.skipped(bad);
  }
  std::string_view rest = document;
  while (!rest.empty()) visitor.paragraph(text::take_line(rest));
  visitor.document_end();
}

void visit_json_lines(std::string_view text, const TextForm& form,
                      const ParagraphVisitor& visitor) {
  while (!text.empty()) {
    const std::string_view line = text::take_line(text);
    if (!text::is_blank(line)) visit_json_line(line, form, visitor);
  }
}

// The end of the block that begins at `begin`: after a line, and a paragraph if it is not too long.
size_t block_end(std::string_view text, size_t begin, size_t bytes, TextFormat format) {
  if (text.size() - begin <= bytes) return text.size();
  const size_t found = text.find('\n', begin + bytes);
  if (found == std::string_view::npos) return text.size();
  if (format != TextFormat::kWrapped) return found + 1;
  const std::string_view near = text.substr(0, found + 1 + kLongestParagraph);
  const size_t end = after_blank_lines(near, found + 1, 1);
  return end < near.size() || near.size() == text.size() ? end : found + 1;
}

}  // namespace

TextFormat text_format_from(std::string_view name) {
  for (const auto& [format, format_name] : kFormatNames) {
    if (format_name == name) return format;
  }
  throw_user_error("unknown text format '{}'; choose one of {}", name,
                   fmt::join(text_format_names(), ", "));
}

std::string_view text_format_name(TextFormat format) {
  return kFormatNames[static_cast<size_t>(format)].second;
}

std::vector<std::string> text_format_names() {
  std::vector<std::string> names;
  for (const auto& [format, name] : kFormatNames) names.emplace_back(name);
  return names;
}

void visit_paragraphs(std::string_view text, const TextForm& form,
                      const ParagraphVisitor& visitor) {
  CLOZE_CHECK(form.format != TextFormat::kAuto, "the form of a text is not known");
  if (form.format == TextFormat::kJsonLines) return visit_json_lines(text, form, visitor);
  if (form.format == TextFormat::kWrapped) {
    return visit_wrapped(text, visitor.paragraph, visitor.document_end);
  }
  visit_lines(text, visitor);
}

void SentenceReader::visit(std::string_view text, const TextForm& form,
                           const SentenceVisitor& visitor) const {
  const auto split = [&](std::string_view paragraph) {
    for (const std::string_view sentence : splitter_.split(paragraph)) visitor.sentence(sentence);
  };
  const ParagraphVisitor whole{visitor.sentence, visitor.document_end};
  visit_paragraphs(text, form,
                   is_split(form.format) ? ParagraphVisitor{split, visitor.document_end} : whole);
}

std::vector<std::string_view> split_into_blocks(std::string_view text, size_t bytes,
                                                TextFormat format) {
  std::vector<std::string_view> blocks;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = block_end(text, begin, bytes, format);
    blocks.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return blocks;
}

size_t next_document(std::string_view text, size_t from, TextFormat format) {
  const size_t line_end = text.find('\n', from);
  if (line_end == std::string_view::npos) return text.size();
  if (format == TextFormat::kJsonLines) return line_end + 1;
  if (format == TextFormat::kWrapped) {
    return after_blank_lines(text, line_end + 1, kBlankLinesBetweenDocuments);
  }
  std::string_view rest = text.substr(line_end + 1);
  while (!rest.empty()) {
    if (text::is_blank(text::take_line(rest))) break;
  }
  return text.size() - rest.size();
}

size_t last_paragraph(std::string_view text, size_t begin, size_t end, TextFormat format) {
  const auto last_line = [&](size_t before) {  // that begins before there
    const size_t found = before < 2 ? std::string_view::npos : text.rfind('\n', before - 2);
    return found == std::string_view::npos ? size_t{0} : found + 1;
  };
  const size_t line = last_line(end + 1);
  if (line <= begin) return end;
  if (format != TextFormat::kWrapped) return line;
  for (size_t at = line; at > begin;) {
    const size_t before = last_line(at);
    if (text::is_blank(text.substr(before, at - before))) return at;
    at = before;
  }
  return line;
}

bool BadText::is_in(std::string_view text) const {
  return place >= text.data() && place <= text.data() + text.size();
}

std::string BadText::message_in(std::string_view text, const std::filesystem::path& file) const {
  const auto offset = static_cast<uint64_t>(place - text.data());
  return formats::message_at(file, text, {message, offset});
}

void BadText::rethrow_if_in(std::string_view text, const std::filesystem::path& file) const {
  if (!is_in(text)) return;
  throw_data_error("{}; --skip-bad-lines leaves such lines out", message_in(text, file));
}

}  // namespace cloze::data
