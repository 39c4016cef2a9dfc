#include "data/corpus/text_source.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "base/error.h"
#include "formats/bzip2_compressed_test.h"
#include "platform/files/atomic_file.h"

namespace cloze::data {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;

class TextSourceTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) /
              (std::string("cloze_text_source_") +
               testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path write(const std::string& bytes, const std::string& name = "text") const {
    platform::write_file_atomically(folder_ / name, bytes);
    return folder_ / name;
  }
  static std::string read(const fs::path& path, const TextSourceOptions& options = {}) {
    CreationProgress progress;
    return std::string(open_text_sources({path}, options, progress)[0].text());
  }
  std::string refusal(const std::string& bytes, const TextSourceOptions& options = {}) const {
    try {
      read(write(bytes), options);
    } catch (const UserError& error) {
      return error.what();
    }
    return "read";
  }

  fs::path folder_;
};

// "It rains.\n" by gzip and by zstd.
const std::string kGzip =
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xf3\x2c\x51\x28\x4a\xcc\xcc\x2b\xd6\xe3\x02\x00"
    "\x59\x0a\xfd\x9f\x0a\x00\x00\x00"s;
const std::string kZstandard =
    "\x28\xb5\x2f\xfd\x04\x58\x51\x00\x00\x49\x74\x20\x72\x61\x69\x6e\x73\x2e\x0a\xe0\xd1\xcb"
    "\xc3"s;

TEST_F(TextSourceTest, CompressedTextIsUnpacked) {
  EXPECT_EQ(read(write(kGzip)), "It rains.\n");
  EXPECT_EQ(read(write(kZstandard)), "It rains.\n");
  EXPECT_THROW(read(write(kGzip.substr(0, 20))), DataError);
}

TEST_F(TextSourceTest, PlainTextIsReadAsItIs) {
  EXPECT_EQ(read(write("It rains.\n")), "It rains.\n");
  EXPECT_EQ(read(write("\xEF\xBB\xBFIt rains.\n")), "It rains.\n") << "without its mark";
  EXPECT_EQ(read(write("")), "");
  EXPECT_THROW(read(folder_ / "missing"), UserError);
}

// As old Macintosh programs wrote them; "\r\n" stays.
TEST_F(TextSourceTest, CarriageReturnsAloneEndLines) {
  EXPECT_EQ(read(write("It rains.\rIt pours.\r\rYes.")), "It rains.\nIt pours.\n\nYes.");
  EXPECT_EQ(read(write("It rains.\r\nYes.\r")), "It rains.\r\nYes.\r");
  EXPECT_EQ(read(write("{\"text\": \"a\"}\r{\"text\": \"b\"}\r"),
                 {.form = {.format = TextFormat::kJsonLines}}),
            "{\"text\": \"a\"}\n{\"text\": \"b\"}\n");
  std::string long_text(200'000, 'a');
  for (size_t i = 70; i < long_text.size(); i += 71) long_text[i] = '\r';
  const std::string converted = read(write(long_text));
  EXPECT_EQ(std::count(converted.begin(), converted.end(), '\n'), 200'000 / 71);
  EXPECT_EQ(converted.size(), long_text.size());
}

// A dump that is compressed shows its form as well; other bzip2 is refused.
TEST_F(TextSourceTest, TheFormOfEachFileIsFoundOut) {
  const std::string dump =
      "<mediawiki><page><title>Rain</title><ns>0</ns><revision><text>It falls.</text></revision>"
      "</page></mediawiki>";
  const TextSourceOptions any{.form = {.format = TextFormat::kAuto}};
  CreationProgress progress;
  std::string notices;
  progress.notice = [&](const std::string& notice) { notices += notice + "\n"; };
  const std::string packed = write(formats::bzip2_compressed(dump), "dump").string();
  const std::string lines = write("{\"text\": \"A. B.\"}\n", "lines").string();
  const auto sources = open_text_sources({packed, lines}, any, progress);
  EXPECT_EQ(sources[0].format(), TextFormat::kWikipedia);
  EXPECT_EQ(sources[0].text(), "It falls.\n\n");
  EXPECT_EQ(sources[1].format(), TextFormat::kJsonLines);
  EXPECT_EQ(notices, "read " + lines + " as jsonl (a JSON object a line), " + packed +
                         " as wikipedia (a MediaWiki dump); set --input-format to read them "
                         "otherwise\n");
  EXPECT_NE(refusal(formats::bzip2_compressed("It rains."), any).find("pipe other text through"),
            std::string::npos);
  EXPECT_NE(refusal("<html>", any).find("is HTML"), std::string::npos);
}

TEST_F(TextSourceTest, WhatIsNoTextIsRefusedByName) {
  for (const auto& [bytes, name] :
       {std::pair("\xFF\xFEI\0t\0"s, "UTF-16"),
        std::pair("\xFE\xFF\0I\0t"s, "UTF-16"),
        std::pair("\xFF\xFE\0\0I\0\0\0"s, "UTF-32"),
        std::pair("I\0t\0 \0"s, "byte 1 is zero"),
        std::pair("\x7F"
                  "ELF\2\1\1\0\0"s,
                  "a program (ELF), not UTF-8 text; name a file of text"),
        std::pair("\1\2\3\4\5\6\7\0"s, "byte 7 is zero"),
        std::pair("\x08\x07\x12\x07pytorch"s, "a model (ONNX)"),
        std::pair("\x08\x09\x3A\xB2\x01graph"s, "a model (ONNX)"),
        std::pair("PAR1\x15\0"s, "Parquet, not UTF-8 text; write its texts as JSON Lines first"),
        std::pair("ARROW1\0\0"s, "Arrow"),
        std::pair("\x40\0\0\0\0\0\0\0{\"a\""s, "safetensors"),
        std::pair("{\\rtf1"s, "RTF"),
        std::pair("\x89HDF\r\n\x1A\n"s, "--train-file"),
        std::pair("SQLite format 3\0"s, "SQLite"),
        std::pair("\x80\4\x95"s, "pickle"),
        std::pair(std::string(257, 'a') + "ustar"s, "a tar archive"),
        std::pair("BZh91AY"s, "bzip2"),
        std::pair("PK\3\4 and more"s, "zip"),
        std::pair("%PDF-1.7"s, "PDF"),
        std::pair("\xFD"
                  "7zXZ"s,
                  "xz"),
        std::pair("<mediawiki xmlns="s, "set --input-format wikipedia")}) {
    EXPECT_NE(refusal(bytes).find(name), std::string::npos) << refusal(bytes);
  }
}

TEST_F(TextSourceTest, TextOfAnotherEncodingIsRefusedWithItsShare) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "Der Regen f\xE4llt.\n";  // Latin-1, a byte in 17
  const std::string message = refusal(text);
  EXPECT_NE(message.find("5.9 % of the bytes are not UTF-8, the first of them byte 11"),
            std::string::npos)
      << message;
  EXPECT_NE(message.find("iconv -f LATIN1 -t UTF-8"), std::string::npos) << message;
  EXPECT_NE(message.find("--max-invalid-utf8, which is now 0.1 %"), std::string::npos) << message;
  EXPECT_EQ(read(write(text), {.max_invalid_percent = 10}), text);
  const std::string few = std::string(5000, 'a') + "\xFF" + std::string(5000, 'a');
  EXPECT_EQ(read(write(few)), few) << "one byte in ten thousand";
}

// Blocks of a large file are looked at, and they may begin inside a character.
TEST_F(TextSourceTest, LargeTextsAreLookedAtAllOver) {
  std::string text;
  while (text.size() < 9'000'000) text += "\u4E2D\u6587 text\u3002 ";
  EXPECT_EQ(read(write(text), {.max_invalid_percent = 0}).size(), text.size());
  const size_t half = text.size() / 2;
  for (size_t i = half; i < text.size(); i += 20) text[i] = '\xFF';
  EXPECT_NE(refusal(text).find("not UTF-8"), std::string::npos);
}

TEST_F(TextSourceTest, ADumpBecomesItsParagraphs) {
  const std::string dump =
      "<mediawiki><page><title>Rain</title><ns>0</ns><revision><text>'''Rain''' is water. It "
      "falls.</text></revision></page></mediawiki>";
  EXPECT_EQ(read(write(dump, "dump.xml"), {.form = {.format = TextFormat::kWikipedia}}),
            "Rain is water. It falls.\n\n");
}

// By the rules of dumps, under either name, packed or not.
TEST_F(TextSourceTest, WikiExtractorsOutputIsCleaned) {
  const std::string extract =
      "<doc id=\"1\" title=\"Rain\">\nRain\n\nRain is <br>water.{{cn}} It falls.\nEarly life.\n"
      "Clouds bring it from far over the sea.\n</doc>\n";
  for (const TextFormat format : {TextFormat::kWikiExtractor, TextFormat::kWikipedia}) {
    EXPECT_EQ(read(write(extract), {.form = {.format = format}}),
              "Rain is water. It falls.\nClouds bring it from far over the sea.\n\n");
  }
  EXPECT_EQ(read(write("\n"), {.form = {.format = TextFormat::kWikiExtractor}}), "\n");
  const std::string empty =
      "<doc id=\"1\" title=\"A (disambiguation)\">\nA (disambiguation)\n\nMay be.\n</doc>\n";
  EXPECT_EQ(read(write(empty), {.form = {.format = TextFormat::kWikiExtractor}}), "");
  EXPECT_NE(refusal("Rain.\n", {.form = {.format = TextFormat::kWikiExtractor}})
                .find("not WikiExtractor"),
            std::string::npos);
}

// In a file of any name, and through a pipe, whose name messages mention.
TEST_F(TextSourceTest, ADumpIsKnownToBeBzip2ByItsFirstBytes) {
  const TextSourceOptions options{.form = {.format = TextFormat::kWikipedia}};
  const std::string dump = formats::bzip2_compressed(
      "<mediawiki><page><title>Rain</title><ns>0</ns><revision><text>It falls.</text></revision>"
      "</page></mediawiki>");
  EXPECT_EQ(read(write(dump, "dump"), options), "It falls.\n\n");
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(std::system(("mkfifo " + pipe.string()).c_str()), 0);
  const auto through_the_pipe = [&](const std::string& bytes) {
    std::jthread writer([&] { std::ofstream(pipe) << bytes; });
    return read(pipe, options);
  };
  EXPECT_EQ(through_the_pipe(dump), "It falls.\n\n");
  for (const std::string& cut : {dump.substr(0, dump.size() - 9), "<mediawiki><page>"s}) {
    try {
      through_the_pipe(cut);
      FAIL();
    } catch (const DataError& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with(pipe.string() + ": ")) << error.what();
    }
  }
}

}  // namespace
}  // namespace cloze::data
