#include "data/wikipedia/wikipedia_file.h"

#include "base/error.h"
#include "data/resumable_output.h"
#include "formats/xxh3.h"
#include "platform/files/file.h"
#include "platform/signals.h"

namespace cloze::formats {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Bzip2Position, bit, stream_crc, is_in_stream)
}  // namespace cloze::formats

namespace cloze::text {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(WikitextCounts, comments, templates, tables, references, files,
                                   headings, list_items, sections)
}  // namespace cloze::text

namespace cloze::data {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DumpPosition, pages_begin, next_page, block, block_begin)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(WikipediaCounts, pages, redirects, other_namespaces,
                                   disambiguations, cut, empty, articles, sentences, bytes_read,
                                   bytes_written, bad_files, dropped)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(WikipediaState, file, dump, blocks, counts)

namespace {

// The version goes up with every change of the text that is made of the same input.
constexpr int kTextVersion = 2;

nlohmann::json identity_of(const WikipediaOptions& options) {
  return {{"text version", kTextVersion},
          {"--language", options.language},
          {"--listing-sections", options.listing_sections},
          {"--skip-bad", options.skip_bad}};
}

std::string digest_of(const std::vector<std::filesystem::path>& files) {
  constexpr size_t kPieceBytes = 8 << 20;
  formats::Xxh3Digest digest;
  for (const std::filesystem::path& path : files) {
    const platform::MappedFile file(path);
    digest.update(fmt::format("{}\n", file.text().size()));
    for (size_t begin = 0; begin < file.text().size(); begin += kPieceBytes) {
      platform::stop_if_requested();
      digest.update(file.text().substr(begin, kPieceBytes));
    }
  }
  return digest.hex();
}

}  // namespace

WikipediaCounts write_wikipedia_text(const WikipediaFileOptions& options,
                                     WikipediaProgress& progress,
                                     const std::function<void(const std::string&)>& notice) {
  ResumableOutput output(
      {.output_files = {options.output_file}, .identity = identity_of(options.input)});
  output.check_input(digest_of(options.input.files));
  WikipediaState state;
  if (!output.state().is_null()) {
    state = output.state().get<WikipediaState>();
    notice(fmt::format("continuing where this was interrupted, after {} articles",
                       state.counts.articles));
  }
  if (!output.is_complete()) {
    int64_t saved = state.counts.bytes_read;
    const auto pause = [&](const WikipediaState& reached) {
      state = reached;
      if (state.counts.bytes_read - saved < options.save_bytes && !platform::stop_requested()) {
        return;
      }
      output.save(state);
      saved = state.counts.bytes_read;
    };
    try {
      read_wikipedia(options.input, WikipediaState(state), progress,
                     {.text = [&](std::string_view text) { output.output(0).append(text); },
                      .pause = pause,
                      .notice = notice});
    } catch (const DataError&) {
      output.discard();  // it would fail again; a missing file may come back
      throw;
    }
  }
  output.commit(state);
  return state.counts;
}

}  // namespace cloze::data
