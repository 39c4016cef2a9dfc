#include "data/corpus/corpus_text.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/error.h"
#include "formats/json.h"
#include "text/ascii.h"
#include "text/python_string.h"
#include "text/utf8.h"

namespace cloze::data {
namespace {

// In the order of the enumeration.
constexpr std::array<std::pair<TextFormat, std::string_view>, 5> kFormatNames = {
    {{TextFormat::kSentences, "sentences"},
     {TextFormat::kParagraphs, "paragraphs"},
     {TextFormat::kJsonLines, "jsonl"},
     {TextFormat::kWikiExtractor, "wikiextractor"},
     {TextFormat::kWikipedia, "wikipedia"}}};

// The form that the beginning of a text shows.
struct ShownForm {
  std::string_view sign;
  std::string_view name;
  TextFormat format;
};
constexpr std::string_view kDumpSign = "<mediawiki";
constexpr ShownForm kMarkup[] = {{"<doc", "WikiExtractor output", TextFormat::kWikiExtractor},
                                 {kDumpSign, "a dump", TextFormat::kWikipedia}};
constexpr ShownForm kJson = {"a JSON object", "JSON Lines", TextFormat::kJsonLines};

void visit_lines(std::string_view text, const ParagraphVisitor& visitor) {
  while (!text.empty()) {
    const std::string_view line = text::take_line(text);
    is_blank(line) ? visitor.document_end() : visitor.paragraph(line);
  }
}

bool has_text(const formats::Json& value) {
  return value.is_object() && value.contains("text") && value["text"].is_string();
}

// Half of a surrogate pair becomes U+FFFD, which BERT's tokenizers leave out.
std::string document_of(std::string_view line) {
  auto object = formats::parse_json(line);
  if (!object) object = formats::parse_json(formats::replace_lone_surrogates(line));
  if (!object) throw BadText{object.error().message, line.data() + object.error().offset};
  if (!has_text(*object)) {
    throw BadText{"is not an object with a string \"text\"", line.data()};
  }
  return (*object)["text"].get<std::string>();
}

void visit_json_lines(std::string_view text, const ParagraphVisitor& visitor) {
  while (!text.empty()) {
    const std::string_view line = text::take_line(text);
    if (is_blank(line)) continue;
    const std::string document = document_of(line);
    std::string_view rest = document;
    while (!rest.empty()) visitor.paragraph(text::take_line(rest));
    visitor.document_end();
  }
}

// Where the block that begins at `begin` may end: after a line.
size_t block_end(std::string_view text, size_t begin, size_t bytes) {
  if (text.size() - begin <= bytes) return text.size();
  const size_t found = text.find('\n', begin + bytes);
  return found == std::string_view::npos ? text.size() : found + 1;
}

std::string_view without_leading_space(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
}

// Whether the text begins with these characters, whatever white space lies between them.
bool begins_with_tokens(std::string_view beginning, std::string_view tokens) {
  for (const char token : tokens) {
    beginning = without_leading_space(beginning);
    if (!beginning.starts_with(token)) return false;
    beginning.remove_prefix(1);
  }
  return true;
}

// A dump may begin with a declaration and comments.
std::string_view after_declaration(std::string_view beginning) {
  constexpr size_t kLongestDeclaration = 4096;
  if (!beginning.starts_with("<?xml")) return beginning;
  const size_t dump = beginning.substr(0, kLongestDeclaration).find(kDumpSign);
  return dump == std::string_view::npos ? beginning : beginning.substr(dump);
}

std::optional<ShownForm> shown_form(std::string_view beginning) {
  for (const ShownForm& markup : kMarkup) {
    if (beginning.starts_with(markup.sign)) return markup;
  }
  if (begins_with_tokens(beginning, "{\"")) return kJson;
  return std::nullopt;
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

void check_text_form(std::string_view text, TextFormat format, const std::filesystem::path& file) {
  if (format == TextFormat::kWikipedia) return;
  const std::string_view beginning = without_leading_space(text);
  if (beginning.empty()) return;
  if (begins_with_tokens(beginning, "[{\"")) {
    throw_user_error(
        "{} is a JSON array; write its objects one a line, each with a \"text\", and set "
        "--input-format jsonl",
        file.string());
  }
  const std::optional<ShownForm> shown = shown_form(after_declaration(beginning));
  if (shown && shown->format == format) return;
  if (shown) {
    throw_user_error("{} begins with {}: it is {}, not {}; set --input-format {}", file.string(),
                     shown->sign, shown->name, text_format_name(format),
                     text_format_name(shown->format));
  }
  if (format == TextFormat::kWikiExtractor) {
    throw_user_error("{} does not begin with <doc: it is not WikiExtractor output", file.string());
  }
}

void visit_paragraphs(std::string_view text, TextFormat format, const ParagraphVisitor& visitor) {
  if (format == TextFormat::kJsonLines) return visit_json_lines(text, visitor);
  visit_lines(text, visitor);
}

void SentenceReader::visit(std::string_view text, TextFormat format,
                           const SentenceVisitor& visitor) const {
  const auto split = [&](std::string_view paragraph) {
    for (const std::string_view sentence : splitter_.split(paragraph)) visitor.sentence(sentence);
  };
  const ParagraphVisitor whole{visitor.sentence, visitor.document_end};
  visit_paragraphs(text, format,
                   is_split(format) ? ParagraphVisitor{split, visitor.document_end} : whole);
}

std::vector<std::string_view> split_into_blocks(std::string_view text, size_t bytes) {
  std::vector<std::string_view> blocks;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = block_end(text, begin, bytes);
    blocks.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return blocks;
}

size_t next_document(std::string_view text, size_t from, TextFormat format) {
  const size_t line_end = text.find('\n', from);
  if (line_end == std::string_view::npos) return text.size();
  if (format == TextFormat::kJsonLines) return line_end + 1;
  std::string_view rest = text.substr(line_end + 1);
  while (!rest.empty()) {
    if (is_blank(text::take_line(rest))) break;
  }
  return text.size() - rest.size();
}

void BadText::rethrow_if_in(std::string_view text, const std::filesystem::path& file) const {
  if (place < text.data() || place > text.data() + text.size()) return;
  const auto offset = static_cast<uint64_t>(place - text.data());
  throw_data_error("{}", formats::message_at(file, text, {message, offset}));
}

bool is_blank(std::string_view line) {
  for (size_t at = 0; at < line.size();) {
    const text::DecodedCodePoint next = text::decode_utf8(line, at);
    if (!next.is_valid || !text::is_python_space(next.code_point)) return false;
    at += next.bytes;
  }
  return true;
}

}  // namespace cloze::data
