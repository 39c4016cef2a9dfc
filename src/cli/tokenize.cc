#include "cli/tokenize.h"

#include <fmt/format.h>

#include <cstdio>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checkpoints/stored_tokenizer.h"
#include "cli/standard_output.h"
#include "text/tokenizer.h"

namespace cloze::cli {
namespace {

struct TokenizeOptions {
  std::string vocab;
  std::string profile = "hf";
  bool cased = false;
  std::optional<bool> strip_accents;
  bool tokenize_chinese_chars = true;
  bool offsets = false;
};

void write_out(fmt::memory_buffer& out) {
  std::fwrite(out.data(), 1, out.size(), stdout);
  flush_standard_output();
  out.clear();
}

// Appends the line's ids to `out`, returns its number of invalid UTF-8 sequences.
uint64_t tokenize_line(const text::Tokenizer& tokenizer, bool with_offsets, std::string_view line,
                       std::vector<int32_t>& ids, fmt::memory_buffer& out) {
  uint64_t num_invalid = 0;
  if (with_offsets) {
    const text::Encoding encoding = tokenizer.encode(line);
    num_invalid = encoding.num_invalid;
    const char* separator = "";
    for (size_t i = 0; i < encoding.ids.size(); ++i) {
      const text::Offset offset = encoding.offsets[i];
      fmt::format_to(std::back_inserter(out), "{}{}:{}-{}", separator, encoding.ids[i],
                     offset.begin, offset.end);
      separator = " ";
    }
  } else {
    ids.clear();
    num_invalid = tokenizer.append_ids(line, ids);
    fmt::format_to(std::back_inserter(out), "{}", fmt::join(ids, " "));
  }
  out.push_back('\n');
  return num_invalid;
}

void tokenize(const TokenizeOptions& options) {
  constexpr size_t kFlushBytes = size_t{1} << 20;
  const text::Tokenizer tokenizer(checkpoints::load_vocabulary(options.vocab),
                                  {.profile = text::profile_from_name(options.profile),
                                   .lower_case = !options.cased,
                                   .strip_accents = options.strip_accents,
                                   .tokenize_chinese_chars = options.tokenize_chinese_chars});
  std::ios::sync_with_stdio(false);
  std::vector<int32_t> ids;
  fmt::memory_buffer out;
  std::string line;
  uint64_t num_invalid = 0;
  while (std::getline(std::cin, line)) {
    num_invalid += tokenize_line(tokenizer, options.offsets, line, ids, out);
    if (out.size() >= kFlushBytes) write_out(out);
  }
  write_out(out);
  if (num_invalid > 0) {
    fmt::print(stderr, "{} invalid UTF-8 sequences were left out\n", num_invalid);
  }
}

}  // namespace

void add_tokenize(Subcommand parent) {
  const auto options = std::make_shared<TokenizeOptions>();
  Subcommand command =
      parent.add_subcommand("tokenize", "Print the token ids of each line of standard input");
  command.add_option("--vocab-file", options->vocab, "vocab.txt or tokenizer.json").required();
  command.add_flag("--cased", options->cased, "Keep capitals and accents");
  command.add_option("--strip-accents", options->strip_accents,
                     "Strip accents, true or false; as --cased says if left out");
  command
      .add_option("--tokenize-chinese-chars", options->tokenize_chinese_chars,
                  "Make every ideograph a word, true or false")
      .shows_default();
  command
      .add_option("--profile", options->profile,
                  "Rules: hf (the tokenizers package) or google (BERT's tokenization.py)")
      .shows_default();
  command.add_flag("--offsets", options->offsets,
                   "Print id:begin-end, bytes of the line, end excluded");
  command.set_action([options] { tokenize(*options); });
}

}  // namespace cloze::cli
