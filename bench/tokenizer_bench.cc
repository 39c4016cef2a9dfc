// Speed of the tokenizer, one thread, in bytes of text per second: both profiles, ids and offsets.
// Usage: tokenizer_bench VOCAB TEXT [Google Benchmark's own options]
#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include <exception>
#include <string>
#include <vector>

#include "platform/files/file.h"
#include "text/tokenizer.h"

namespace cloze::text {
namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

void count_bytes(benchmark::State& state, std::string_view text) {
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text.size()));
}

void append_ids(benchmark::State& state, const Tokenizer& tokenizer, std::string_view text) {
  const std::vector<std::string_view> lines = lines_of(text);
  std::vector<int32_t> ids;
  for (auto _ : state) {
    for (const std::string_view line : lines) {
      ids.clear();
      tokenizer.append_ids(line, ids);
      benchmark::DoNotOptimize(ids.data());
    }
  }
  count_bytes(state, text);
}

void encode(benchmark::State& state, const Tokenizer& tokenizer, std::string_view text) {
  const std::vector<std::string_view> lines = lines_of(text);
  for (auto _ : state) {
    for (const std::string_view line : lines) benchmark::DoNotOptimize(tokenizer.encode(line));
  }
  count_bytes(state, text);
}

void run(const char* vocabulary_path, const char* text_path) {
  const Vocabulary vocabulary = Vocabulary::load(vocabulary_path);
  const bool lower_case = vocabulary.likely_lower_cased();
  const Tokenizer google(vocabulary, {Profile::kGoogle, lower_case});
  const Tokenizer hugging_face(vocabulary, {Profile::kHuggingFace, lower_case});
  const platform::MappedFile text(text_path);
  for (const auto& [name, tokenizer] : {std::pair{"google", &google}, {"hf", &hugging_face}}) {
    benchmark::RegisterBenchmark(fmt::format("append_ids/{}", name).c_str(), append_ids,
                                 std::cref(*tokenizer), text.text())
        ->UseRealTime();
    benchmark::RegisterBenchmark(fmt::format("encode/{}", name).c_str(), encode,
                                 std::cref(*tokenizer), text.text())
        ->UseRealTime();
  }
  benchmark::RunSpecifiedBenchmarks();
}

}  // namespace
}  // namespace cloze::text

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (argc != 3) {
    fmt::print(stderr, "usage: tokenizer_bench VOCAB TEXT\n");
    return 2;
  }
  try {
    cloze::text::run(argv[1], argv[2]);
  } catch (const std::exception& error) {
    fmt::print(stderr, "tokenizer_bench: {}\n", error.what());
    return 2;
  }
  return 0;
}
