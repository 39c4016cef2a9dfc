// Names that a wiki has for the things in its pages that are not prose: the namespaces of files and
// categories, and the sections that only list (References, See also, External links ...).
//
// English names count everywhere. A language adds its own, where it is one of
//   ar de es fr hi it ja ko nl pl pt ru sv uk zh
// and the reader of a dump adds the namespaces that the dump lists.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace cloze::text {

class WikitextNames {
 public:
  // `language` as in a dump's xml:lang: "en", "de", "zh-Hans". Any other adds nothing to English.
  explicit WikitextNames(std::string_view language = "en");
  static bool knows(std::string_view language);

  void drop_namespace(std::string_view name);
  void drop_section(std::string_view heading);

  bool drops_namespace(std::string_view name) const;  // [[NAME:...]] leaves nothing
  bool drops_section(std::string_view heading) const;

 private:
  using Names = std::set<std::string, std::less<>>;
  Names namespaces_;
  Names sections_;
};

// A name as names are compared: lower case, with spaces for underscores, and none around it.
std::string wikitext_name_key(std::string_view name);

}  // namespace cloze::text
