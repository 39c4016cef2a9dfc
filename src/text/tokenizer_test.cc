#include "text/tokenizer.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/error.h"
#include "base/philox.h"
#include "text/reference_tokenizer_test.h"

namespace cloze::text {
namespace {

constexpr TokenizerOptions kGoogleUncased{Profile::kGoogle, true};
constexpr TokenizerOptions kGoogleCased{Profile::kGoogle, false};
constexpr TokenizerOptions kHuggingFaceUncased{Profile::kHuggingFace, true};
constexpr TokenizerOptions kHuggingFaceCased{Profile::kHuggingFace, false};
constexpr TokenizerOptions kAll[] = {kGoogleUncased, kGoogleCased, kHuggingFaceUncased,
                                     kHuggingFaceCased};

// The same with what tokenizer_config.json may say besides.
std::vector<TokenizerOptions> every_choice() {
  std::vector<TokenizerOptions> choices;
  for (const TokenizerOptions& options : kAll) {
    for (const bool strip_accents : {false, true}) {
      for (const bool chinese : {false, true}) {
        choices.push_back({options.profile, options.lower_case, strip_accents, chinese});
      }
    }
  }
  return choices;
}

Vocabulary make_vocabulary(std::vector<std::string> tokens) {
  tokens.insert(tokens.begin(), {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"});
  return Vocabulary::from_tokens(std::move(tokens));
}

// The vocabulary of the tests: letters, so that every normalised word is spelled out.
Vocabulary letters() {
  std::vector<std::string> tokens;
  for (const char* c : {"a", "b",  "c",  "e",  "i",  "o",  "s", "A", "É", "é",      "α",     "ς",
                        "σ", "ᄀ", "ᅡ", "ᆨ", "漢", "㐀", "b̃", "0", "1", "\u302E", "\u1ABF"}) {
    tokens.push_back(c);
    tokens.push_back(std::string("##") + c);
  }
  for (const char* c : {".", ",", "'", ";", "=", "[", "]", "-", "#", "mask", "abc", "##bc"}) {
    tokens.push_back(c);
  }
  return make_vocabulary(tokens);
}

// "token:begin-end token:begin-end"
std::string spell(TokenizerOptions options, std::string_view text) {
  const Tokenizer tokenizer(letters(), options);
  const Encoding encoding = tokenizer.encode(text);
  std::string line;
  for (size_t i = 0; i < encoding.ids.size(); ++i) {
    line +=
        fmt::format("{}{}:{}-{}", i == 0 ? "" : " ", tokenizer.vocabulary().token(encoding.ids[i]),
                    encoding.offsets[i].begin, encoding.offsets[i].end);
  }
  return line;
}

TEST(TokenizerTest, WordsPunctuationAndOffsets) {
  for (const TokenizerOptions options : kAll) {
    EXPECT_EQ(spell(options, "abc, a's\t[b]"),
              "abc:0-3 ,:3-4 a:5-6 ':6-7 s:7-8 [:9-10 b:10-11 ]:11-12");
    EXPECT_EQ(spell(options, "  abcabc xyz "), "abc:2-5 ##a:5-6 ##bc:6-8 [UNK]:9-12");
    EXPECT_EQ(spell(options, ""), "");
    EXPECT_EQ(spell(options, " \t\r\n"), "");
  }
}

TEST(TokenizerTest, CasingAndAccents) {
  EXPECT_EQ(spell(kGoogleUncased, "ÉA"), "e:0-2 ##a:2-3");
  EXPECT_EQ(spell(kHuggingFaceUncased, "ÉA"), "e:0-2 ##a:2-3");
  EXPECT_EQ(spell(kGoogleCased, "ÉA"), "É:0-2 ##A:2-3");
  EXPECT_EQ(spell(kHuggingFaceCased, "ÉA"), "É:0-2 ##A:2-3");
  // A mark of its own is outside the offsets; U+0130 becomes two code points, of which one stays.
  EXPECT_EQ(spell(kHuggingFaceUncased, "e\u0301s"), "e:0-1 ##s:3-4");
  EXPECT_EQ(spell(kGoogleUncased, "İs"), "i:0-2 ##s:2-3");
}

TEST(TokenizerTest, FinalSigmaIsGooglesOnly) {
  EXPECT_EQ(spell(kGoogleUncased, "ΑΣ"), "α:0-2 ##ς:2-4");
  EXPECT_EQ(spell(kGoogleUncased, "ΑΣ ΑΣ.Α ΑΣ. Σ"),
            "α:0-2 ##ς:2-4 α:5-7 ##σ:7-9 .:9-10 α:10-12 α:13-15 ##ς:15-17 .:17-18 σ:19-21");
  EXPECT_EQ(spell(kGoogleUncased, "ΑΣ\u0001\xFFΑ 漢ΑΣ漢"),
            "α:0-2 ##σ:2-4 ##α:6-8 漢:9-12 α:12-14 ##ς:14-16 漢:16-19");
  EXPECT_EQ(spell(kHuggingFaceUncased, "ΑΣ"), "α:0-2 ##σ:2-4");
}

TEST(TokenizerTest, ControlsSpacesAndIdeographs) {
  for (const TokenizerOptions options : kAll) {
    EXPECT_EQ(spell(options, std::string_view("a\0b\u200Bo\uFFFDs", 11)),
              "a:0-1 ##b:2-3 ##o:6-7 ##s:10-11");
    EXPECT_EQ(spell(options, "a\u00A0b\u2028c\u3000o"), "a:0-1 b:3-4 c:7-8 o:11-12");
    EXPECT_EQ(spell(options, "a漢㐀b"), "a:0-1 漢:1-4 㐀:4-7 b:7-8");
    EXPECT_EQ(spell(options, "a\u000Bb"), "a:0-1 ##b:2-3");
  }
}

TEST(TokenizerTest, ProfilesDifferInTheirTables) {
  // U+2B820 is an ideograph to Google only; U+08E2 a format character to Google only.
  EXPECT_EQ(spell(kGoogleCased, "a\U0002B820b"), "a:0-1 [UNK]:1-5 b:5-6");
  EXPECT_EQ(spell(kHuggingFaceCased, "a\U0002B820b"), "[UNK]:0-6");
  EXPECT_EQ(spell(kGoogleCased, "a\u08E2b"), "a:0-1 ##b:4-5");
  EXPECT_EQ(spell(kHuggingFaceCased, "a\u08E2b"), "[UNK]:0-5");
  // U+1ABF is a mark newer than the Unicode 8 categories of hugging face.
  EXPECT_EQ(spell(kGoogleUncased, "a\u1ABF"), "a:0-1");
  EXPECT_EQ(spell(kHuggingFaceUncased, "a\u1ABF"), "a:0-1 ##\u1ABF:1-4");
}

TEST(TokenizerTest, DecompositionsAndMarksThatStay) {
  for (const TokenizerOptions options : {kGoogleUncased, kHuggingFaceUncased}) {
    EXPECT_EQ(spell(options, "각"), "ᄀ:0-3 ##ᅡ:0-3 ##ᆨ:0-3");
    EXPECT_EQ(spell(options, "a\u037Eb≠"), "a:0-1 ;:1-3 b:3-4 =:4-7");  // Greek ? is ;
    // U+302E (class 224, not a non-spacing mark) moves before U+0301 (230) and takes its bytes.
    EXPECT_EQ(spell(options, "a\u0301\u302Eb"), "a:0-1 ##\u302E:1-3 ##b:6-7");
    EXPECT_EQ(spell(options, "a\u302E\u0301b"), "a:0-1 ##\u302E:1-4 ##b:6-7");
  }
}

TEST(TokenizerTest, WordsBeyondTheLimitAreUnknown) {
  const auto num_tokens = [](TokenizerOptions options, size_t length) {
    const Encoding encoding =
        Tokenizer(letters(), options).encode("b " + std::string(length, 'o') + ".");
    const Offset last_of_word = encoding.offsets[encoding.offsets.size() - 2];
    EXPECT_EQ(last_of_word.end, length + 2);
    EXPECT_EQ(encoding.offsets[1].begin, 2u);
    return encoding.ids.size() - 2;
  };
  EXPECT_EQ(num_tokens(kGoogleCased, 200), 200u);
  EXPECT_EQ(num_tokens(kGoogleCased, 201), 1u);
  EXPECT_EQ(num_tokens(kHuggingFaceCased, 100), 100u);
  EXPECT_EQ(num_tokens(kHuggingFaceCased, 101), 1u);
}

TEST(TokenizerTest, InvalidUtf8IsLeftOutAndCounted) {
  const Tokenizer tokenizer(letters(), kHuggingFaceUncased);
  const Encoding encoding = tokenizer.encode(
      "a\xFF"
      "b\xE2\x82 \xC0\xAF"
      "c");
  EXPECT_EQ(encoding.num_invalid, 4u);
  EXPECT_EQ(encoding.ids.size(), 3u);
  EXPECT_EQ(encoding.offsets.back(), (Offset{8, 9}));
  std::vector<int32_t> ids = {42};
  EXPECT_EQ(tokenizer.append_ids("a\xFF"
                                 "b\xE2\x82 \xC0\xAF"
                                 "c",
                                 ids),
            4u);
  EXPECT_EQ(std::vector<int32_t>(ids.begin() + 1, ids.end()), encoding.ids);
  EXPECT_EQ(ids[0], 42);
}

TEST(TokenizerTest, SpecialTokensInTheTextAreText) {
  EXPECT_EQ(spell(kHuggingFaceUncased, "[MASK]"), "[:0-1 mask:1-5 ]:5-6");
}

TEST(TokenizerTest, CaseAccentsAndIdeographsAreChosenApart) {
  for (const Profile profile : {Profile::kGoogle, Profile::kHuggingFace}) {
    const TokenizerOptions keeps_accents{profile, true, false};
    EXPECT_EQ(spell(keeps_accents, "ÉA"), "é:0-2 ##a:2-3");
    EXPECT_EQ(spell(keeps_accents, "İ"), "[UNK]:0-2");  // i and a dot above, which stays
    const TokenizerOptions keeps_capitals{profile, false, true};
    EXPECT_EQ(spell(keeps_capitals, "éA"), "e:0-2 ##A:2-3");
    const TokenizerOptions keeps_words{profile, true, {}, false};
    EXPECT_EQ(spell(keeps_words, "a漢É漢."), "a:0-1 ##漢:1-4 ##e:4-6 ##漢:6-9 .:9-10");
  }
}

TEST(TokenizerTest, ProfileNames) {
  EXPECT_EQ(profile_from_name("hf"), Profile::kHuggingFace);
  EXPECT_EQ(profile_from_name("google"), Profile::kGoogle);
  EXPECT_THROW(profile_from_name("bert"), UserError);
}

// Random text: plain letters, marks, sigmas, ideographs, controls, anything, and broken UTF-8.
std::string random_text(PhiloxStream& random) {
  static constexpr std::string_view kAwkward[] = {
      "Σ",        "Α",          "σ",          "'",           ".",      " ",      "\u0301", "\u0323",
      "\u302E",   "\u0345",     "\u1ABF",     "\u0344",      "É",      "İ",      "ǆ",      "각",
      "漢",       "\uF900",     "≠",          "\u037E",      "\u00AD", "\u200B", "\u2028", "\xFF",
      "\xE2\x82", "\U0001D160", "\U00011938", "abc",         "a",      "b",      "A",      "0",
      "[",        "\r",         "\t",         "\u0F71\u0F72"};
  std::string text;
  for (uint32_t n = random.below(40); n > 0; --n) {
    if (random.below(8) == 0) {
      const char32_t c = random.below(0x110000);
      if (c < 0xD800 || c > 0xDFFF) append_utf8(c, text);
    } else if (random.below(200) == 0) {
      text.append(80 + random.below(140), 'o');
    } else {
      text += kAwkward[random.below(std::size(kAwkward))];
    }
  }
  return text;
}

TEST(TokenizerTest, AgreesWithTheReferenceOnRandomText) {
  const Vocabulary vocabulary = letters();
  for (const TokenizerOptions& options : every_choice()) {
    const Tokenizer tokenizer(vocabulary, options);
    const ReferenceTokenizer reference(vocabulary, options);
    PhiloxStream random(11, static_cast<uint64_t>(options.profile) * 2 + options.lower_case);
    for (int i = 0; i < 3'000; ++i) {
      const std::string text = random_text(random);
      const Encoding expected = reference.encode(text);
      const Encoding encoding = tokenizer.encode(text);
      std::vector<int32_t> ids;
      ASSERT_EQ(tokenizer.append_ids(text, ids), expected.num_invalid)
          << testing::PrintToString(text);
      ASSERT_EQ(ids, expected.ids) << testing::PrintToString(text);
      ASSERT_EQ(encoding.ids, expected.ids) << testing::PrintToString(text);
      ASSERT_TRUE(encoding.offsets == expected.offsets) << testing::PrintToString(text);
    }
  }
}

TEST(TokenizerTest, AMillionBytesWithoutASpaceTakeLinearTime) {
  for (const TokenizerOptions options : {kGoogleUncased, kHuggingFaceUncased}) {
    const Tokenizer tokenizer(letters(), options);
    for (const std::string_view unit :
         {"a", "Σ", "'Σ", "\u0301\u0323", "\u302E\u1ABF", "é", "\x80"}) {
      std::string text;
      while (text.size() < 1'000'000) text += unit;
      std::vector<int32_t> ids;
      tokenizer.append_ids(text, ids);
      EXPECT_LE(ids.size(), text.size());  // quadratic work would not end
    }
  }
}

TEST(TokenizerTest, ThreadsMayShareOneTokenizer) {
  const Tokenizer tokenizer(letters(), kHuggingFaceUncased);
  std::vector<std::vector<int32_t>> ids(4);
  std::vector<std::thread> threads;
  for (auto& own : ids) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) tokenizer.append_ids("abc É a\u0301\u302E 漢 각 xyz. ", own);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ids[0].size() % 500, 0u);
  for (const auto& own : ids) EXPECT_EQ(own, ids[0]);
}

TEST(Tokenizer, PiecesWithoutARowAreUnknown) {
  // Ids 5 to 9, of which 8 and 9 have no row.
  const Vocabulary vocabulary = make_vocabulary({"ab", "##cd", "e", "##f", "abcd"});
  const Tokenizer tokenizer(vocabulary, kHuggingFaceUncased, 8);
  std::vector<int32_t> ids{8};  // what is there before is left alone
  tokenizer.append_ids("e abcd ef abcdcd", ids);
  EXPECT_EQ(ids, (std::vector<int32_t>{8, 7, 1, 7, 1, 1, 6}));
  const Encoding encoding = tokenizer.encode("ef abcdcd");
  EXPECT_EQ(encoding.ids, (std::vector<int32_t>{7, 1, 1, 6}));
  EXPECT_EQ(encoding.offsets[1].begin, 1u);
  EXPECT_EQ(encoding.offsets[2].end, 7u);
  EXPECT_EQ(encoding.offsets[3].end, 9u);
}

TEST(Tokenizer, CountsWhatHasNoRow) {
  const Vocabulary vocabulary = make_vocabulary({"a", "b", "c"});  // ids 5, 6, 7
  const Tokenizer limited(vocabulary, kHuggingFaceUncased, 7);
  EXPECT_TRUE(limited.lacks_rows());
  const TokenCount count = limited.count("c a other c b");
  EXPECT_EQ(count.tokens, 5);
  EXPECT_EQ(count.rowless, 2) << "a word of no pieces is [UNK] in any model";
  std::vector<int32_t> ids;
  limited.append_ids("c a other c b", ids);
  EXPECT_EQ(ids, (std::vector<int32_t>{1, 5, 1, 1, 6}));
  const Tokenizer whole(vocabulary, kHuggingFaceUncased, 8);
  EXPECT_FALSE(whole.lacks_rows());
  EXPECT_EQ(whole.count("c a").rowless, 0);
}

}  // namespace
}  // namespace cloze::text
