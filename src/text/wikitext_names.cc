#include "text/wikitext_names.h"

#include <algorithm>

#include "text/ascii.h"
#include "text/python_string.h"
#include "text/utf8.h"

namespace cloze::text {
namespace {

// Names are separated by '|', and written as wikitext_name_key() has them.
struct LanguageNames {
  std::string_view language;
  std::string_view namespaces;  // those a dump does not list too: aliases that pages still use
  std::string_view sections;
};

constexpr LanguageNames kLanguages[] = {
    {"en", "category|file|image|media",
     "bibliography|citations|discography|external links|filmography|footnotes|further reading|"
     "gallery|notes|notes and references|publications|references|references and notes|see also|"
     "selected bibliography|sources|works cited"},
    {"ar", "تصنيف|ملف|صورة|وسائط",
     "مراجع|المراجع|مصادر|المصادر|هوامش|وصلات خارجية|روابط خارجية|انظر أيضا|انظر أيضًا|معرض صور"},
    {"de", "kategorie|datei|bild|medium",
     "anmerkungen|belege|diskografie|einzelnachweise|filmografie|fußnoten|literatur|nachweise|"
     "quellen|siehe auch|weblinks|weiterführende literatur"},
    {"es", "categoría|archivo|imagen|medio",
     "bibliografía|bibliografía adicional|discografía|enlaces externos|filmografía|fuentes|notas|"
     "notas y referencias|referencias|véase también"},
    {"fr", "catégorie|fichier|image|média",
     "annexes|articles connexes|bibliographie|discographie|filmographie|lien externe|"
     "liens externes|notes|notes et références|références|sources|voir aussi"},
    {"hi", "श्रेणी|चित्र|मीडिया", "इन्हें भी देखें|टिप्पणी|बाहरी कड़ियाँ|सन्दर्भ|संदर्भ"},
    {"it", "categoria|file|immagine",
     "altri progetti|bibliografia|collegamenti esterni|discografia|filmografia|note|"
     "voci correlate"},
    {"ja", "カテゴリ|ファイル|画像|メディア",
     "ギャラリー|出典|参考文献|外部リンク|注釈|脚注|関連文献|関連項目"},
    {"ko", "분류|파일|그림|미디어", "각주|같이 보기|외부 링크|참고 문헌|참고 자료|출처"},
    {"nl", "categorie|bestand|afbeelding",
     "bibliografie|bronnen|bronnen, noten en/of referenties|discografie|externe link|"
     "externe links|filmografie|literatuur|noten|referenties|voetnoten|zie ook"},
    {"pl", "kategoria|plik|grafika",
     "bibliografia|dyskografia|filmografia|linki zewnętrzne|literatura|przypisy|uwagi|"
     "zobacz też"},
    {"pt", "categoria|ficheiro|arquivo|imagem|multimédia",
     "bibliografia|discografia|filmografia|leitura adicional|ligações externas|notas|"
     "notas e referências|referências|ver também"},
    {"ru", "категория|файл|изображение|медиа",
     "библиография|дискография|источники|литература|примечания|см. также|сноски|ссылки|"
     "фильмография"},
    {"sv", "kategori|fil|bild",
     "diskografi|externa länkar|filmografi|fotnoter|källor|litteratur|noter|referenser|se även|"
     "tryckta källor|vidare läsning|webbkällor"},
    {"uk", "категорія|файл|зображення|медіа",
     "бібліографія|джерела|див. також|дискографія|література|посилання|примітки|фільмографія"},
    {"zh", "分类|分類|文件|檔案|档案|图像|圖像|媒体|媒體",
     "参见|參見|参考文献|參考文獻|参考资料|參考資料|外部链接|外部連結|外部連接|延伸阅读|"
     "延伸閱讀|注释|注釋|註釋|相关条目|相關條目|脚注|腳註"},
};

// "zh" of "zh-Hans".
std::string_view main_part(std::string_view language) {
  return language.substr(0, language.find('-'));
}

template <typename Visitor>
void visit_names(std::string_view names, const Visitor& visit) {
  while (!names.empty()) {
    const size_t end = std::min(names.find('|'), names.size());
    visit(names.substr(0, end));
    names.remove_prefix(std::min(end + 1, names.size()));
  }
}

}  // namespace

WikitextNames::WikitextNames(std::string_view language) {
  for (const LanguageNames& names : kLanguages) {
    if (names.language != "en" && names.language != main_part(language)) continue;
    visit_names(names.namespaces, [&](std::string_view name) { drop_namespace(name); });
    visit_names(names.sections, [&](std::string_view name) { drop_section(name); });
  }
}

bool WikitextNames::knows(std::string_view language) {
  return std::ranges::any_of(kLanguages, [&](const LanguageNames& names) {
    return names.language == main_part(language);
  });
}

void WikitextNames::drop_namespace(std::string_view name) {
  namespaces_.insert(wikitext_name_key(name));
}
void WikitextNames::drop_section(std::string_view heading) {
  sections_.insert(wikitext_name_key(heading));
}
bool WikitextNames::drops_namespace(std::string_view name) const {
  return namespaces_.contains(wikitext_name_key(name));
}
bool WikitextNames::drops_section(std::string_view heading) const {
  return sections_.contains(wikitext_name_key(heading));
}

std::string wikitext_name_key(std::string_view name) {
  std::string spaced(name);
  std::replace(spaced.begin(), spaced.end(), '_', ' ');
  const std::string_view trimmed = trim_ascii(spaced);
  return is_valid_utf8(trimmed) ? python_lower(trimmed) : lower_ascii(trimmed);
}

}  // namespace cloze::text
