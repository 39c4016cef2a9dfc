#include "data/wikipedia/disambiguation.h"

#include <algorithm>
#include <array>
#include <string>

#include "text/wikitext_names.h"

namespace cloze::data {
namespace {

constexpr std::string_view kMagicWord = "__DISAMBIG__";
constexpr size_t kLongestName = 200;

// Words in brackets at the end of a title.
constexpr auto kTitleWords = std::to_array<std::string_view>(
    {"disambiguation", "begriffsklärung", "desambiguación", "disambigua", "desambiguação",
     "homonymie", "doorverwijspagina", "ujednoznacznienie", "значения", "значення",
     "olika betydelser", "曖昧さ回避", "消歧义", "消歧義", "توضيح", "동음이의"});

// An English template's name ends with one of these. Elsewhere the ends tell less: Italian articles
// bear {{Nota disambigua}}.
constexpr auto kEnglishNameEnds =
    std::to_array<std::string_view>({"disambiguation", "disambig", "disamb", " dab"});

// ... or is one of these, in English and elsewhere.
constexpr auto kEnglishNames =
    std::to_array<std::string_view>({"dab", "dis", "geodis", "hndis", "hospitaldis", "mathdab",
                                     "mathdis", "numberdis", "roaddis", "schooldis", "stationdis"});
constexpr auto kOtherNames = std::to_array<std::string_view>({"begriffsklärung",
                                                              "bks",
                                                              "desambig",
                                                              "desambiguación",
                                                              "desambiguação",
                                                              "disambigua",
                                                              "dp",
                                                              "doorverwijspagina",
                                                              "homonymie",
                                                              "ujednoznacznienie",
                                                              "неоднозначность",
                                                              "багатозначність",
                                                              "förgrening",
                                                              "gren",
                                                              "aimai",
                                                              "曖昧さ回避",
                                                              "消歧义",
                                                              "消歧義",
                                                              "توضيح",
                                                              "동음이의"});

constexpr std::string_view kCleanup[] = {" cleanup", "-cleanup"};

template <size_t N>
bool contains(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

bool names_disambiguation(std::string_view template_name) {
  const std::string key = text::wikitext_name_key(template_name);
  std::string_view name = key;
  for (const std::string_view prefix : {"template:", "msg:"}) {
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  }
  for (const std::string_view suffix : kCleanup) {
    if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
  }
  return contains(kEnglishNames, name) || contains(kOtherNames, name) ||
         std::ranges::any_of(kEnglishNameEnds,
                             [&](std::string_view end) { return name.ends_with(end); });
}

bool has_disambiguating_template(std::string_view wikitext) {
  for (size_t at = wikitext.find("{{"); at != std::string_view::npos;
       at = wikitext.find("{{", at + 2)) {
    const std::string_view content = wikitext.substr(at + 2, kLongestName);
    const size_t end = content.find_first_of("|{}[]<");
    if (end != std::string_view::npos && names_disambiguation(content.substr(0, end))) return true;
  }
  return false;
}

bool has_disambiguating_title(std::string_view title) {
  const size_t bracket = title.rfind('(');
  if (bracket == std::string_view::npos || !title.ends_with(')')) return false;
  const std::string word =
      text::wikitext_name_key(title.substr(bracket + 1, title.size() - bracket - 2));
  return contains(kTitleWords, word);
}

}  // namespace

bool is_disambiguation(const PageParts& page) {
  return has_disambiguating_title(page.title) ||
         page.wikitext.find(kMagicWord) != std::string_view::npos ||
         has_disambiguating_template(page.wikitext);
}

}  // namespace cloze::data
