#include "cli/data/cut_report.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "base/division.h"
#include "base/error.h"
#include "cli/console/say.h"
#include "cli/console/work_display.h"
#include "data/id_count.h"
#include "text/cut_count.h"

namespace cloze::cli {
namespace {

constexpr double kTraceOfStripped = 0.1;  // per cent of the characters
constexpr double kFallingApart = 40;      // per cent of the tokens
constexpr int64_t kTellingTokens = 1000;  // of fewer tokens, letters tell nothing
constexpr size_t kShownCauses = 5;
constexpr size_t kSampleBytes = 4 << 20;  // of texts in memory

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

// Whether the vocabulary is probably of another language, of which it has the letters alone
// (text/letter_count.h).
bool falls_apart(const text::CutCount& count) {
  return count.tokens() >= kTellingTokens && 100 * count.single_letter_share() > kFallingApart;
}

std::string letters_of(const text::CutCount& count) {
  if (!falls_apart(count)) return "";
  return fmt::format("; {:.0f} % are single letters of words that the vocabulary does not have",
                     100 * count.single_letter_share());
}

void say_stripped(const text::CutCount& count, const CutReport& how) {
  const double percent = 100 * count.stripped_share();
  if (percent <= kTraceOfStripped) return;
  say("note: accents and vowel signs are stripped: {:.1f} % of the characters, most often {}; to "
      "keep them, {}\n",
      percent, listed(count.stripped(kShownCauses)), how.to_keep_accents);
}

// Says `what`, with the cure where it is noted; UserError when `percent` is more than allowed.
void say_or_refuse(const std::string& what, double percent, bool is_noted, const std::string& cure,
                   double max_unknown_percent) {
  if (percent > max_unknown_percent) {
    throw_user_error("{}; {}, or allow it with --max-unknown-tokens {:.0f}", what, cure,
                     std::ceil(percent));
  }
  if (is_noted) {
    say("note: {}; {}\n", what, cure);
  } else {
    say("{}\n", what);
  }
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

void report_cut(const data::TextSample& sample, const text::Tokenizer& tokenizer,
                const CutReport& how) {
  const text::CutCount count = counted(sample, tokenizer);
  if (count.tokens() == 0) return;
  const double percent = 100 * count.unknown_share();
  const std::string causes = listed(count.causes(kShownCauses));
  const std::string what = fmt::format(
      "{}{}{:.2f} % of the tokens{} are [UNK]{}{}{}", how.source, how.source.empty() ? "" : ": ",
      percent, sample.is_whole ? "" : " in a sample of the text",
      causes.empty() ? "" : ", most often for ", causes, letters_of(count));
  const bool is_much = percent > kTraceOfUnknownPercent;
  const auto better = is_much ? better_rule(sample, tokenizer, count.unknown()) : std::nullopt;
  say_or_refuse(what, percent, is_much || falls_apart(count), better.value_or(how.cure),
                how.max_unknown_percent);
  say_stripped(count, how);
}

void report_ids(const data::Dataset& dataset, int32_t unknown_id, const CutReport& how) {
  if (unknown_id < 0) return;
  const data::IdCount count =
      data::count_ids(dataset, data::kCountedSamples, [&](int32_t id) { return id == unknown_id; });
  if (count.tokens == 0) return;
  const double share = percent(count.found, count.tokens);
  const std::string text =
      fmt::format("{}: {:.2f} % of the tokens in {} of {} samples are [UNK] (id {})", how.source,
                  share, count.samples, dataset.size(), unknown_id);
  say_or_refuse(text, share, share > kTraceOfUnknownPercent, how.cure, how.max_unknown_percent);
}

data::TextExamination cut_report(const text::Tokenizer& tokenizer, double max_unknown_percent) {
  return [&tokenizer, max_unknown_percent](const std::vector<data::TextSource>& sources) {
    report_cut(data::sample_of(sources), tokenizer, {.max_unknown_percent = max_unknown_percent});
  };
}

data::TextSample sample_of(std::span<const std::string_view> texts) {
  size_t bytes = 0;
  for (const std::string_view text : texts) bytes += text.size();
  const size_t distance = std::max<size_t>(1, divide_up(bytes, kSampleBytes));
  data::TextSample sample{.paragraphs = {}, .is_whole = distance == 1};
  for (size_t i = 0; i < texts.size(); i += distance) sample.paragraphs.emplace_back(texts[i]);
  return sample;
}

void report_stripped(const data::TextSample& sample, const text::Tokenizer& tokenizer) {
  if (tokenizer.options().strips_accents()) say_stripped(counted(sample, tokenizer), {});
}

}  // namespace cloze::cli
