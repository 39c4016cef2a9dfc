#include "text/wikitext_names.h"

#include <gtest/gtest.h>

#include "text/wikitext.h"

namespace cloze::text {
namespace {

TEST(WikitextNames, EnglishCountsEverywhereAndALanguageAddsItsOwn) {
  const WikitextNames english, german("de"), chinese("zh-Hans"), unknown("xx");
  for (const WikitextNames* names : {&english, &german, &chinese, &unknown}) {
    EXPECT_TRUE(names->drops_namespace("File"));
    EXPECT_TRUE(names->drops_section(" External_links "));
    EXPECT_FALSE(names->drops_section("History"));
  }
  EXPECT_TRUE(german.drops_namespace("Bild"));
  EXPECT_TRUE(german.drops_section("Einzelnachweise"));
  EXPECT_FALSE(english.drops_section("Einzelnachweise"));
  EXPECT_TRUE(chinese.drops_section("外部链接"));
}

TEST(WikitextNames, EveryLanguageHasFilesCategoriesAndReferences) {
  struct Names {
    const char *language, *file, *category, *section;
  };
  for (const Names& names : {Names{"ar", "ملف", "تصنيف", "مراجع"},
                             {"de", "Datei", "Kategorie", "Weblinks"},
                             {"es", "Archivo", "Categoría", "Enlaces externos"},
                             {"fr", "Fichier", "Catégorie", "Notes et références"},
                             {"hi", "चित्र", "श्रेणी", "सन्दर्भ"},
                             {"it", "Immagine", "Categoria", "Voci correlate"},
                             {"ja", "ファイル", "カテゴリ", "脚注"},
                             {"ko", "파일", "분류", "각주"},
                             {"nl", "Bestand", "Categorie", "Externe links"},
                             {"pl", "Plik", "Kategoria", "Przypisy"},
                             {"pt", "Ficheiro", "Categoria", "Ligações externas"},
                             {"ru", "Файл", "КАТЕГОРИЯ", "Примечания"},
                             {"sv", "Fil", "Kategori", "Källor"},
                             {"uk", "Файл", "Категорія", "Примітки"},
                             {"zh", "檔案", "分類", "參考文獻"}}) {
    const WikitextNames of_language(names.language);
    EXPECT_TRUE(of_language.drops_namespace(names.file)) << names.language;
    EXPECT_TRUE(of_language.drops_namespace(names.category)) << names.language;
    EXPECT_TRUE(of_language.drops_section(names.section)) << names.language;
  }
}

TEST(WikitextNames, LanguagesAreKnownByTheirMainPart) {
  for (const char* language : {"en", "de", "zh-Hans"}) EXPECT_TRUE(WikitextNames::knows(language));
  for (const char* language : {"germn", "", "-de"}) EXPECT_FALSE(WikitextNames::knows(language));
}

TEST(WikitextNames, WhatIsAddedIsDroppedFromPages) {
  WikitextNames names;
  names.drop_namespace("Ilustraĵo");
  names.drop_section("Eksteraj ligiloj");
  WikitextCounts counts;
  EXPECT_EQ(plain_text_of_wikitext(
                "[[ILUSTRAĴO:a.jpg|thumb|Kato]]Kato dormas.\n== Eksteraj ligiloj ==\nNe tio.",
                names, counts),
            "Kato dormas.\n");
  EXPECT_EQ(counts.files, 1);
  EXPECT_EQ(counts.sections, 1);
}

TEST(WikitextNames, KeysOfBytesThatAreNoTextStayBytes) {
  EXPECT_EQ(wikitext_name_key(" Fo\xFFo_Bar\n"), "fo\xFFo bar");
  EXPECT_EQ(wikitext_name_key("ÄRA"), "ära");
}

}  // namespace
}  // namespace cloze::text
