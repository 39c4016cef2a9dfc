#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "checkpoints/stored_tokenizer.h"
#include "cli/console/say.h"
#include "cli/console/work_display.h"
#include "cli/data/cut_report.h"
#include "cli/data/data_options.h"
#include "cli/options/commands.h"
#include "cli/program.h"
#include "text/cut_count.h"
#include "text/tokenizer.h"

namespace cloze::cli {
namespace {

struct Options {
  std::string vocab;
  bool cased = false;
  text::TokenizerOptions rules;
  bool offsets = false;
};

// Uses the rules that come with the vocabulary, unless options override them.
text::Tokenizer make_tokenizer(const Options& options, const OptionTable& table) {
  checkpoints::StoredTokenizer stored = checkpoints::read_tokenizer("", options.vocab);
  for (const std::string& note : stored.notes) say("note: {}\n", note);
  text::TokenizerOptions rules = stored.options;
  rules.profile = options.rules.profile;
  if (table.is_asked_for("cased")) rules.lower_case = !options.cased;
  if (table.is_asked_for("strip_accents")) rules.strip_accents = options.rules.strip_accents;
  if (table.is_asked_for("tokenize_chinese_chars")) {
    rules.tokenize_chinese_chars = options.rules.tokenize_chinese_chars;
  }
  return {std::move(stored.vocabulary), rules};
}

void write_out(fmt::memory_buffer& out) {
  std::fwrite(out.data(), 1, out.size(), stdout);
  flush_standard_output();
  out.clear();
}

// What is [UNK] in the lines, for which characters and words: these are looked for in the first
// lines that have any.
class UnknownCount {
 public:
  explicit UnknownCount(const text::Tokenizer& tokenizer)
      : unknown_id_(tokenizer.vocabulary().unknown_id()), examined_(tokenizer) {}

  void add(std::string_view line, std::span<const int32_t> ids) {
    const auto unknown = std::ranges::count(ids, unknown_id_);
    tokens_ += std::ssize(ids);
    unknown_ += unknown;
    if (unknown == 0 || examined_bytes_ > kMostExamined) return;
    examined_bytes_ += line.size();
    examined_.add(line);
  }
  void print() const {
    if (percent(unknown_, tokens_) <= kTraceOfUnknownPercent) return;
    say("note: {} of {} tokens are [UNK] ({:.2f} %), most often for {}\n", unknown_, tokens_,
        percent(unknown_, tokens_), listed(examined_.causes(kShownCauses)));
  }

 private:
  static constexpr size_t kMostExamined = 4 << 20;  // bytes
  static constexpr size_t kShownCauses = 5;

  int32_t unknown_id_;
  text::CutCount examined_;
  size_t examined_bytes_ = 0;
  int64_t tokens_ = 0, unknown_ = 0;
};

// Appends the line's ids to `out`, returns its number of invalid UTF-8 sequences.
uint64_t tokenize_line(const text::Tokenizer& tokenizer, bool with_offsets, std::string_view line,
                       std::vector<int32_t>& ids, fmt::memory_buffer& out) {
  uint64_t num_invalid = 0;
  if (with_offsets) {
    text::Encoding encoding = tokenizer.encode(line);
    num_invalid = encoding.num_invalid;
    const char* separator = "";
    for (size_t i = 0; i < encoding.ids.size(); ++i) {
      const text::Offset offset = encoding.offsets[i];
      fmt::format_to(std::back_inserter(out), "{}{}:{}-{}", separator, encoding.ids[i],
                     offset.begin, offset.end);
      separator = " ";
    }
    ids = std::move(encoding.ids);
  } else {
    ids.clear();
    num_invalid = tokenizer.append_ids(line, ids);
    fmt::format_to(std::back_inserter(out), "{}", fmt::join(ids, " "));
  }
  out.push_back('\n');
  return num_invalid;
}

void tokenize(Options& options, OptionTable& table) {
  constexpr size_t kFlushBytes = size_t{1} << 20;
  const text::Tokenizer tokenizer = make_tokenizer(options, table);
  std::ios::sync_with_stdio(false);
  std::vector<int32_t> ids;
  fmt::memory_buffer out;
  std::string line;
  uint64_t num_invalid = 0;
  UnknownCount unknown(tokenizer);
  while (std::getline(std::cin, line)) {
    num_invalid += tokenize_line(tokenizer, options.offsets, line, ids, out);
    unknown.add(line, ids);
    if (out.size() >= kFlushBytes) write_out(out);
  }
  write_out(out);
  if (num_invalid > 0) {
    say("{} invalid UTF-8 sequences were left out\n", num_invalid);
  }
  unknown.print();
}

void add_options(OptionTable& table, Options& o) {
  table.add("vocab_file", &o.vocab, "vocab.txt or tokenizer.json", {.is_required = true});
  table.add("cased", &o.cased,
            "Keep capitals and accents; as the vocabulary's files say if left out");
  table.add("strip_accents", &o.rules.strip_accents,
            "Strip accents, true or false; as those files say if left out, or as --cased");
  table.add("tokenize_chinese_chars", &o.rules.tokenize_chinese_chars,
            "Make every ideograph a word, true or false; as those files say if left out");
  table.add(profile_option(o.rules.profile));
  table.add("offsets", &o.offsets, "Print id:begin-end, bytes of the line, end excluded");
}

}  // namespace

void add_tokenize(Subcommand program) {
  program.add_command("tokenize",
                      {"Print the token ids of each line of standard input",
                       "echo 'a mill on the river' | cloze tokenize --vocab-file vocab.txt"},
                      add_options, tokenize);
}

}  // namespace cloze::cli
