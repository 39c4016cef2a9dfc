#include <fmt/core.h>

#include <chrono>
#include <string>

#include "base/seconds.h"
#include "base/time_text.h"
#include "cli/console/say.h"
#include "cli/console/work_display.h"
#include "cli/data/data_options.h"
#include "cli/options/commands.h"
#include "data/creation/wikipedia_file.h"
#include "platform/available_threads.h"
#include "platform/files/input_paths.h"
#include "platform/signals.h"
#include "text/wikitext_names.h"

namespace cloze::cli {
namespace {

struct Options {
  std::string input_files;
  data::WikipediaFileOptions wikipedia;
  Options() { wikipedia.input.threads = platform::available_threads(); }
};

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
  fmt::print("{:.1f} MB in, {:.1f} MB out, {:.1f} % dropped, {}\n", megabytes(counts.bytes_read),
             megabytes(counts.bytes_written),
             100 - 100 * megabytes(counts.bytes_written) / megabytes(counts.bytes_read),
             time_text(seconds));
}

void run(Options& options) {
  options.wikipedia.input.files = platform::expand_paths(options.input_files);
  platform::require_other_files({.inputs = platform::expand_paths_with_folders(options.input_files),
                                 .outputs = {options.wikipedia.output_file}});
  const std::string& language = options.wikipedia.input.language;
  if (!language.empty() && !text::WikitextNames::knows(language)) {
    say("note: the names of language {} are not known here, only those of English are dropped\n",
        language);
  }
  platform::install_stop_signals();
  const auto start = std::chrono::steady_clock::now();
  data::WikipediaProgress progress;
  data::WikipediaCounts counts;
  {
    const WorkDisplay display([&](double seconds) { return describe_dumps(progress, seconds); });
    counts = data::write_wikipedia_text(
        options.wikipedia, progress, [](const std::string& notice) { say("note: {}\n", notice); });
  }
  const double elapsed = seconds_since(start);
  print_counts(counts, elapsed);
}

void add_options(OptionTable& table, Options& o) {
  data::WikipediaOptions& input = o.wikipedia.input;
  table.add("input_file", &o.input_files,
            "Dumps (.xml, .xml.bz2) or WikiExtractor files: paths, globs or folders, separated by "
            "commas (a path that exists may contain them)",
            {.is_required = true});
  table.add("output_file", &o.wikipedia.output_file, "Text file to write", {.is_required = true});
  table.add(threads_option(input.threads));
  table.add("language", &input.language,
            "Language of the names in the wikitext (de, fr, ja ...); unset: as the dump says, "
            "English for WikiExtractor files");
  table.add("listing_sections", &input.listing_sections,
            "Headings of sections to leave out besides References and the like, separated by "
            "commas");
  table.add("skip_bad", &input.skip_bad,
            "Keep what was read from a broken file before the damage, and continue");
}

}  // namespace

void add_data_wikipedia(Subcommand data) {
  data.add_command(
      "wikipedia",
      {"Make plain text, one sentence per line, from a MediaWiki dump or WikiExtractor output",
       "cloze data wikipedia --input-file enwiki-pages-articles.xml.bz2 --output-file "
       "wikipedia.txt"},
      add_options, run);
}

}  // namespace cloze::cli
