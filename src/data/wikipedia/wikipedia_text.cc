#include "data/wikipedia/wikipedia_text.h"

#include <algorithm>
#include <future>
#include <optional>
#include <span>

#include "base/error.h"
#include "data/wikipedia/disambiguation.h"
#include "data/wikipedia/dump_reader.h"
#include "data/wikipedia/extract_article.h"
#include "platform/files/file.h"
#include "platform/parallel_for.h"
#include "text/ascii.h"
#include "text/python_string.h"

namespace cloze::data {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kExtractBlockBytes = 1 << 20;

constexpr int kFileNamespace = 6;
constexpr int kCategoryNamespace = 14;
constexpr int kMediaNamespace = -2;

enum class SourceForm { kDump, kExtract };

// The outcome of one piece of input.
struct Cleaned {
  std::string text;
  int64_t pages = 0;
  int64_t disambiguations = 0;
  int64_t articles = 0;
  int64_t sentences = 0;
  text::WikitextCounts dropped;

  void add_line(std::string_view line) {
    text += line;
    text += '\n';
    ++sentences;
  }
  void end_article() {
    if (text.empty() || text.ends_with("\n\n")) return;
    text += '\n';
    ++articles;
  }
};

// The way from wikitext to text.
struct Cleaning {
  const text::WikitextNames& names;
  const text::SentenceSplitter* splitter;
};

void add_article(std::string_view wikitext, const Cleaning& cleaning, Cleaned& cleaned) {
  const std::string plain = text::plain_text_of_wikitext(wikitext, cleaning.names, cleaned.dropped);
  const auto add = [&](std::string_view paragraph) {
    if (cleaning.splitter == nullptr) return cleaned.add_line(paragraph);
    for (const auto sentence : cleaning.splitter->split(paragraph)) cleaned.add_line(sentence);
  };
  for (std::string_view rest = plain; !rest.empty();) {
    const std::string_view line = text::take_line(rest);
    if (!text::is_blank(line)) add(line);
  }
  cleaned.end_article();
}

// The articles of a piece of WikiExtractor's output.
Cleaned clean_extract(std::string_view text, const Cleaning& cleaning) {
  Cleaned cleaned;
  while (const auto article = take_extract_article(text)) {
    ++cleaned.pages;
    if (is_disambiguation({.title = article->title, .wikitext = article->body})) {
      ++cleaned.disambiguations;
    } else {
      add_article(wikitext_of(*article), cleaning, cleaned);
    }
  }
  return cleaned;
}

class WikipediaReader {
 public:
  WikipediaReader(const WikipediaOptions& options, const WikipediaState& start,
                  WikipediaProgress& progress, const WikipediaVisitor& visitor)
      : options_(options), progress_(progress), visitor_(visitor), state_(start) {}

  WikipediaCounts read() {
    for (const fs::path& file : options_.files) progress_.total_bytes += platform::file_bytes(file);
    for (int64_t i = 0; i < state_.file; ++i) {
      progress_.bytes += platform::file_bytes(options_.files[i]);
    }
    progress_.bytes_before = progress_.bytes.load();
    progress_.articles = counts_.articles;
    while (state_.file < std::ssize(options_.files) && !has_enough()) {
      const fs::path& file = options_.files[static_cast<size_t>(state_.file)];
      const int64_t before = progress_.bytes;
      read_file(file);
      progress_.bytes = before + platform::file_bytes(file);
      state_.file += 1;
      state_.dump = {};
      state_.blocks = 0;
      visitor_.pause(state_);
    }
    if (counts_.articles == 0 && !options_.may_be_empty) {
      throw_data_error("no article was left of {} pages in {} files", counts_.pages,
                       options_.files.size());
    }
    return counts_;
  }

 private:
  bool has_enough() const { return counts_.bytes_written >= options_.enough_bytes; }

  const fs::path& name_of(const fs::path& file) const {
    return options_.name.empty() ? file : options_.name;
  }

  SourceForm form_of(const fs::path& path) const {
    const platform::MappedFile file(path);
    const std::string_view text = file.text();
    if (is_bzip2_dump(path, text)) return SourceForm::kDump;
    const std::string_view start = text.substr(std::min(text.find('<'), text.size()));
    if (start.starts_with("<doc")) return SourceForm::kExtract;
    if (start.starts_with("<mediawiki") || start.starts_with("<?xml")) return SourceForm::kDump;
    throw_data_error(
        "{} is neither a MediaWiki dump (<mediawiki ...>, or bzip2) nor WikiExtractor output (<doc "
        "...>); plain text needs no cleaning: give it to cloze data tokens, or to cloze pretrain "
        "as "
        "input_file",
        name_of(path).string());
  }

  void read_file(const fs::path& file) {
    try {
      form_of(file) == SourceForm::kDump ? read_dump(file) : read_extract(file);
    } catch (const DataError& error) {
      if (!options_.skip_bad) throw;
      ++counts_.bad_files;
      visitor_.notice(fmt::format("{}; what came before is kept", error.what()));
    }
  }

  text::WikitextNames names_in(std::string_view language) const {
    text::WikitextNames names(options_.language.empty() ? language : options_.language);
    for (const std::string& heading : options_.listing_sections) names.drop_section(heading);
    return names;
  }

  text::WikitextNames names_of(const formats::MediaWikiSite& site) const {
    text::WikitextNames names = names_in(site.language);
    for (const formats::MediaWikiNamespace& space : site.namespaces) {
      const bool is_dropped = space.id == kFileNamespace || space.id == kCategoryNamespace ||
                              space.id == kMediaNamespace;
      if (is_dropped && !space.name.empty()) names.drop_namespace(space.name);
    }
    return names;
  }

  void read_dump(const fs::path& file) {
    DumpReader reader(file, {.threads = options_.threads,
                             .batch_bytes = options_.batch_bytes,
                             .start = state_.dump,
                             .name = name_of(file)});
    progress_.bytes_before += reader.file_bytes_read();
    std::optional<text::WikitextNames> names;
    const int64_t before = progress_.bytes;
    // The next batch is read while this one is cleaned.
    auto next = std::async(std::launch::async, [&] { return reader.read(); });
    while (true) {
      const std::vector<formats::MediaWikiPage> pages = next.get();
      if (pages.empty() || has_enough()) return;
      const DumpPosition position = reader.position();
      progress_.bytes = before + reader.file_bytes_read();
      if (!names) names = names_of(reader.site());
      next = std::async(std::launch::async, [&] { return reader.read(); });
      read_pages(pages, *names);
      state_.dump = position;
      visitor_.pause(state_);
    }
  }

  void read_pages(std::span<const formats::MediaWikiPage> pages, const text::WikitextNames& names) {
    std::vector<const formats::MediaWikiPage*> articles;
    for (const formats::MediaWikiPage& page : pages) {
      if (accepts(page)) articles.push_back(&page);
    }
    std::vector<Cleaned> cleaned(articles.size());
    platform::parallel_for(std::ssize(articles), options_.threads, [&](int64_t i) {
      cleaned[i].pages = 1;
      add_article(articles[i]->text, {names, options_.splitter}, cleaned[i]);
    });
    for (const Cleaned& article : cleaned) append(article);
  }

  bool accepts(const formats::MediaWikiPage& page) {
    counts_.cut += page.is_cut ? 1 : 0;
    if (page.namespace_id != 0) {
      ++counts_.other_namespaces;
    } else if (page.is_redirect) {
      ++counts_.redirects;
    } else if (is_disambiguation({.title = page.title, .wikitext = page.text})) {
      ++counts_.disambiguations;
    } else {
      counts_.bytes_read += std::ssize(page.text);
      return true;
    }
    ++counts_.pages;
    return false;
  }

  void read_extract(const fs::path& path) {
    const platform::MappedFile file(path);
    const auto blocks = blocks_of_articles(file.text(), kExtractBlockBytes);
    const text::WikitextNames names = names_in("en");
    const int64_t round = std::max<int64_t>(1, options_.batch_bytes / kExtractBlockBytes);
    while (state_.blocks < std::ssize(blocks) && !has_enough()) {
      const int64_t begin = state_.blocks;
      std::vector<Cleaned> cleaned(std::min(round, std::ssize(blocks) - begin));
      platform::parallel_for(std::ssize(cleaned), options_.threads, [&](int64_t i) {
        cleaned[i] = clean_extract(blocks[begin + i], {names, options_.splitter});
      });
      for (int64_t i = 0; i < std::ssize(cleaned); ++i) {
        counts_.bytes_read += std::ssize(blocks[begin + i]);
        append(cleaned[i]);
      }
      state_.blocks += std::ssize(cleaned);
      visitor_.pause(state_);
    }
  }

  void append(const Cleaned& cleaned) {
    visitor_.text(cleaned.text);
    counts_.pages += cleaned.pages;
    counts_.disambiguations += cleaned.disambiguations;
    counts_.empty += cleaned.pages - cleaned.disambiguations - cleaned.articles;
    counts_.articles += cleaned.articles;
    counts_.sentences += cleaned.sentences;
    counts_.bytes_written += std::ssize(cleaned.text);
    counts_.dropped += cleaned.dropped;
    progress_.articles += cleaned.articles;
  }

  const WikipediaOptions& options_;
  WikipediaProgress& progress_;
  const WikipediaVisitor& visitor_;
  WikipediaState state_;
  WikipediaCounts& counts_ = state_.counts;
};

}  // namespace

WikipediaCounts read_wikipedia(const WikipediaOptions& options, const WikipediaState& start,
                               WikipediaProgress& progress, const WikipediaVisitor& visitor) {
  return WikipediaReader(options, start, progress, visitor).read();
}

}  // namespace cloze::data
