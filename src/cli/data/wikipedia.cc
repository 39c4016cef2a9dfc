#include "cli/data/wikipedia.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "cli/work_display.h"
#include "data/wikipedia/wikipedia_file.h"
#include "platform/available_threads.h"
#include "platform/file.h"
#include "platform/signals.h"

namespace cloze::cli {
namespace {

struct Options {
  std::string input_files;
  std::string listing_sections;
  data::WikipediaFileOptions wikipedia;
};

std::vector<std::string> comma_list(std::string_view text) {
  std::vector<std::string> items;
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    if (end > 0) items.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return items;
}

double megabytes(int64_t bytes) { return static_cast<double>(bytes) / 1e6; }

void print_counts(const data::WikipediaCounts& counts, double seconds) {
  fmt::print("pages {}\n  redirects {}\n  not articles {}\n  disambiguation pages {}\n",
             counts.pages, counts.redirects, counts.other_namespaces, counts.disambiguations);
  fmt::print("  without a sentence {}\n  longer than a page may be, cut {}\n", counts.empty,
             counts.cut);
  fmt::print("articles {}\nsentences {} ({:.1f} an article)\n", counts.articles, counts.sentences,
             static_cast<double>(counts.sentences) / static_cast<double>(counts.articles));
  const text::WikitextCounts& dropped = counts.dropped;
  fmt::print(
      "dropped: {} templates, {} tables, {} references and the like, {} files and categories, {} "
      "headings, {} list items, {} sections, {} comments\n",
      dropped.templates, dropped.tables, dropped.references, dropped.files, dropped.headings,
      dropped.list_items, dropped.sections, dropped.comments);
  fmt::print("broken files {}\n", counts.bad_files);
  fmt::print("{:.1f} MB in, {:.1f} MB out, {:.1f} % dropped, {:.1f} s\n",
             megabytes(counts.bytes_read), megabytes(counts.bytes_written),
             100 - 100 * megabytes(counts.bytes_written) / megabytes(counts.bytes_read), seconds);
}

void run(Options options) {
  data::WikipediaOptions& wikipedia = options.wikipedia.input;
  if (wikipedia.threads < 1) throw_user_error("--threads {} must be positive", wikipedia.threads);
  wikipedia.files = platform::expand_paths(options.input_files);
  wikipedia.listing_sections = comma_list(options.listing_sections);
  platform::install_stop_signals();
  const auto start = std::chrono::steady_clock::now();
  data::WikipediaProgress progress;
  data::WikipediaCounts counts;
  {
    const WorkDisplay display([&](double seconds) { return describe_dumps(progress, seconds); });
    counts = data::write_wikipedia_text(options.wikipedia, progress, [](const std::string& notice) {
      fmt::print(stderr, "note: {}\n", notice);
    });
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  print_counts(counts, elapsed.count());
}

}  // namespace

std::string describe_dumps(const data::WikipediaProgress& progress, double seconds) {
  return fmt::format(
      "{}, {} articles",
      describe_bytes(static_cast<double>(progress.bytes), static_cast<double>(progress.total_bytes),
                     seconds, static_cast<double>(progress.bytes_before)),
      progress.articles.load());
}

void add_data_wikipedia(Subcommand parent) {
  Subcommand command = parent.add_subcommand(
      "wikipedia",
      "Make plain text, a sentence a line, of a MediaWiki dump or WikiExtractor output");
  const auto options = std::make_shared<Options>();
  options->wikipedia.input.threads = platform::available_threads();
  command
      .add_option("--input-file", options->input_files,
                  "Dumps (.xml, .xml.bz2) or WikiExtractor files: comma list, globs, folders")
      .required();
  command.add_option("--output-file", options->wikipedia.output_file, "Text file to write")
      .required();
  command
      .add_option("--threads", options->wikipedia.input.threads,
                  "Threads; the output does not depend on it")
      .shows_default();
  command.add_option("--language", options->wikipedia.input.language,
                     "Language of the names in the wikitext (de, fr, ja ...); unset: as the dump "
                     "says, English for WikiExtractor files");
  command.add_option(
      "--listing-sections", options->listing_sections,
      "Headings of sections to leave out besides References and the like: comma list");
  command.add_flag("--skip-bad", options->wikipedia.input.skip_bad,
                   "Keep what a broken file gave before the break, and go on");
  command.set_action([options] { run(*options); });
}

}  // namespace cloze::cli
