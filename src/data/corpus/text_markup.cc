#include "data/corpus/text_markup.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/error.h"
#include "text/ascii.h"

namespace cloze::data {
namespace {

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
constexpr size_t kLongestDeclaration = 4096;

std::string_view without_leading_space(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
}

// Says whether the text begins with these characters, whatever white space lies between them.
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
  if (!beginning.starts_with("<?xml")) return beginning;
  const size_t dump = beginning.substr(0, kLongestDeclaration).find(kDumpSign);
  return dump == std::string_view::npos ? beginning : beginning.substr(dump);
}

std::optional<ShownForm> shown_form(std::string_view text) {
  const std::string_view beginning = after_declaration(without_leading_space(text));
  for (const ShownForm& markup : kMarkup) {
    if (beginning.starts_with(markup.sign)) return markup;
  }
  if (begins_with_tokens(beginning, "{\"")) return kJson;
  return std::nullopt;
}

// The text from its first element on, without the declarations, comments and white space before it.
std::string_view first_element(std::string_view beginning) {
  while (beginning.starts_with("<?") || beginning.starts_with("<!--")) {
    const std::string_view end = beginning.starts_with("<?") ? "?>" : "-->";
    const size_t found = beginning.find(end);
    if (found == std::string_view::npos) return "";
    beginning = without_leading_space(beginning.substr(found + end.size()));
  }
  return beginning;
}

bool is_html(std::string_view text) {
  const std::string beginning =
      text::lower_ascii(without_leading_space(text).substr(0, kLongestDeclaration));
  const std::string_view element = first_element(beginning);
  return std::ranges::any_of(std::array{"<!doctype html", "<html", "<head>", "<body"},
                             [&](const char* sign) { return element.starts_with(sign); });
}

}  // namespace

std::optional<TextFormat> form_by_markup(std::string_view text) {
  const std::optional<ShownForm> shown = shown_form(text);
  return shown ? std::optional(shown->format) : std::nullopt;
}

void check_text_form(std::string_view text, TextFormat format, const std::filesystem::path& file) {
  if (format == TextFormat::kWikipedia) return;
  const std::string_view beginning = without_leading_space(text);
  if (beginning.empty()) return;
  if (is_html(beginning)) {
    throw_user_error(
        "{} is HTML: its tags and scripts would be trained on; take the text out first (pandoc -t "
        "plain, or w3m -dump)",
        file.string());
  }
  if (begins_with_tokens(beginning, "[{\"")) {
    throw_user_error(
        "{} is a JSON array; write its objects one a line, each with a \"text\", and set "
        "--input-format jsonl",
        file.string());
  }
  const std::optional<ShownForm> shown = shown_form(beginning);
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

}  // namespace cloze::data
