#include "cli/benchmark/generated_text.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/philox.h"
#include "formats/json.h"
#include "platform/files/atomic_file.h"
#include "platform/files/folder.h"

namespace cloze::cli {
namespace {

using formats::Json;

constexpr uint32_t kNumWords = 2000;
constexpr int kWordsOfParagraph = 70, kWordsOfQuestion = 9, kWordsOfSentence = 12;
constexpr int kParagraphs = 84, kQuestions = 6, kPairs = 2000;

std::string word(PhiloxStream& stream) { return fmt::format("w{}", stream.below(kNumWords)); }

std::string words(int count, PhiloxStream& stream) {
  std::vector<std::string> drawn;
  for (int i = 0; i < count; ++i) drawn.push_back(word(stream));
  return fmt::format("{} .", fmt::join(drawn, " "));
}

std::string vocabulary() {
  std::string lines = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n.\n";
  for (uint32_t i = 0; i < kNumWords; ++i) lines += fmt::format("w{}\n", i);
  return lines;
}

// A paragraph whose every question has the same answer: its first word after the first space.
Json paragraph(int number, PhiloxStream& stream) {
  const std::string context = words(kWordsOfParagraph, stream);
  const size_t begin = context.find(' ') + 1;
  const Json answer = {{"text", context.substr(begin, context.find(' ', begin) - begin)},
                       {"answer_start", begin}};
  Json questions = Json::array();
  for (int i = 0; i < kQuestions; ++i) {
    questions.push_back({{"id", fmt::format("{}-{}", number, i)},
                         {"question", words(kWordsOfQuestion, stream)},
                         {"answers", Json::array({answer})}});
  }
  return {{"context", context}, {"qas", std::move(questions)}};
}

std::string squad(int num_paragraphs, PhiloxStream& stream) {
  Json paragraphs = Json::array();
  for (int i = 0; i < num_paragraphs; ++i) paragraphs.push_back(paragraph(i, stream));
  Json article = {{"title", "generated"}, {"paragraphs", std::move(paragraphs)}};
  return formats::json_line(Json{{"version", "1.1"}, {"data", Json::array({std::move(article)})}});
}

// MRPC's columns.
std::string pairs(PhiloxStream& stream) {
  std::string rows = "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n";
  for (int i = 0; i < kPairs; ++i) {
    rows += fmt::format("{}\t{}\t{}\t{}\t{}\n", i % 2, i, i + 1, words(kWordsOfSentence, stream),
                        words(kWordsOfSentence, stream));
  }
  return rows;
}

}  // namespace

void write_generated_text(const std::filesystem::path& folder) {
  if (std::filesystem::exists(folder / "vocab.txt")) return;
  PhiloxStream stream(42, 0);
  platform::make_writable_directory(folder / "MRPC");
  platform::write_file_atomically(folder / "MRPC" / "train.tsv", pairs(stream));
  platform::write_file_atomically(folder / "squad-train.json", squad(kParagraphs, stream));
  platform::write_file_atomically(folder / "squad-dev.json", squad(kParagraphs / 10, stream));
  platform::write_file_atomically(folder / "vocab.txt", vocabulary());  // last: all is there
}

}  // namespace cloze::cli
