#include "cli/data/cut_report.h"

#include <cmath>
#include <optional>
#include <string>

#include "base/error.h"
#include "cli/say.h"
#include "text/cut_count.h"

namespace cloze::cli {
namespace {

constexpr double kTraceOfUnknown = 0.5;   // per cent of the tokens
constexpr double kTraceOfStripped = 0.1;  // per cent of the characters
constexpr size_t kShownCauses = 5;

text::CutCount counted(const data::TextSample& sample, const text::Tokenizer& tokenizer) {
  text::CutCount count(tokenizer);
  for (const std::string& paragraph : sample.paragraphs) count.add(paragraph);
  return count;
}

// Says which option leaves fewer than half as many unknown tokens, and what share that is; nothing
// when none does.
std::optional<std::string> better_rule(const data::TextSample& sample,
                                       const text::Tokenizer& tokenizer, int64_t unknown) {
  const text::TokenizerOptions& rules = tokenizer.options();
  const auto with = [&](const char* option, bool value, const text::TokenizerOptions& other) {
    const text::Tokenizer changed(tokenizer.vocabulary(), other);
    const text::CutCount count = counted(sample, changed);
    if (2 * count.unknown() >= unknown) return std::optional<std::string>();
    return std::optional(
        fmt::format("with {} {} it is {:.2f} %", option, value, 100 * count.unknown_share()));
  };
  text::TokenizerOptions other_case = rules;
  other_case.lower_case = !rules.lower_case;
  if (rules.lower_case || tokenizer.vocabulary().likely_lower_cased()) {
    if (auto better = with("--do-lower-case", other_case.lower_case, other_case)) return better;
  }
  text::TokenizerOptions other_accents = rules;
  other_accents.strip_accents = !rules.strips_accents();
  return with("--strip-accents", *other_accents.strip_accents, other_accents);
}

std::string cure_of(const data::TextSample& sample, const text::Tokenizer& tokenizer,
                    int64_t unknown) {
  return better_rule(sample, tokenizer, unknown)
      .value_or(
          "give the vocabulary that was made for this text, or make one: cloze data vocabulary");
}

void say_stripped(const text::CutCount& count) {
  const double percent = 100 * count.stripped_share();
  if (percent <= kTraceOfStripped) return;
  say("note: accents and vowel signs are stripped: {:.1f} % of the characters, most often {}; to "
      "keep them, make the vocabulary with --strip-accents false\n",
      percent, listed(count.stripped(kShownCauses)));
}

void report_cut(const data::TextSample& sample, const text::Tokenizer& tokenizer,
                double max_unknown_percent) {
  const text::CutCount count = counted(sample, tokenizer);
  if (count.tokens() == 0) return;
  const double percent = 100 * count.unknown_share();
  const std::string share = fmt::format("{:.2f} % of the tokens{} are [UNK]", percent,
                                        sample.is_whole ? "" : " in a sample of the text");
  const std::string causes = listed(count.causes(kShownCauses));
  if (percent > max_unknown_percent) {
    throw_user_error("{}, most often for {}; {}, or allow it with --max-unknown-tokens {:.0f}",
                     share, causes, cure_of(sample, tokenizer, count.unknown()),
                     std::ceil(percent));
  }
  if (percent > kTraceOfUnknown) {
    say("note: {}, most often for {}; {}\n", share, causes,
        cure_of(sample, tokenizer, count.unknown()));
  } else {
    say("{}{}{}\n", share, causes.empty() ? "" : ", most often for ", causes);
  }
  say_stripped(count);
}

}  // namespace

std::string listed(std::span<const text::CountedText> texts) {
  std::string list;
  for (const text::CountedText& counted : texts) {
    list += fmt::format("{}{} ({})", list.empty() ? "" : ", ", counted.text, counted.count);
  }
  return list;
}

void add_unknown_limit(OptionTable& table, double& max_unknown_percent) {
  table.add("max_unknown_tokens", &max_unknown_percent,
            "Refuse text when more than this percentage of its tokens is [UNK]",
            {.minimum = 0, .maximum = 100});
}

data::TextExamination cut_report(data::TextFormat format, const text::Tokenizer& tokenizer,
                                 double max_unknown_percent) {
  return [format, &tokenizer, max_unknown_percent](const std::vector<data::TextSource>& sources) {
    report_cut(data::sample_of(sources, format), tokenizer, max_unknown_percent);
  };
}

void report_stripped(const data::TextSample& sample, const text::Tokenizer& tokenizer) {
  if (tokenizer.options().strips_accents()) say_stripped(counted(sample, tokenizer));
}

}  // namespace cloze::cli
