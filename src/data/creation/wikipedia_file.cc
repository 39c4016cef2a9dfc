#include "data/creation/wikipedia_file.h"

#include "base/error.h"
#include "data/corpus/learned_habits.h"
#include "data/resumable_output.h"
#include "formats/xxh3.h"
#include "platform/files/file.h"
#include "platform/signals.h"
#include "text/ascii.h"

namespace cloze::formats {
constexpr auto json_members(const Bzip2Position*) {
  using formats::JsonName;
  using T = Bzip2Position;
  return std::tuple{JsonName{"bit", &T::bit}, JsonName{"stream_crc", &T::stream_crc},
                    JsonName{"is_in_stream", &T::is_in_stream}};
}
}  // namespace cloze::formats

namespace cloze::text {
constexpr auto json_members(const StopHabits*) {
  using formats::JsonName;
  using T = StopHabits;
  return std::tuple{JsonName{"abbreviations", &T::abbreviations}, JsonName{"openers", &T::openers},
                    JsonName{"has_ordinals", &T::has_ordinals}};
}
constexpr auto json_members(const WikitextCounts*) {
  using formats::JsonName;
  using T = WikitextCounts;
  return std::tuple{JsonName{"comments", &T::comments},     JsonName{"templates", &T::templates},
                    JsonName{"tables", &T::tables},         JsonName{"references", &T::references},
                    JsonName{"files", &T::files},           JsonName{"headings", &T::headings},
                    JsonName{"list_items", &T::list_items}, JsonName{"sections", &T::sections}};
}
}  // namespace cloze::text

namespace cloze::data {

constexpr auto json_members(const DumpPosition*) {
  using formats::JsonName;
  using T = DumpPosition;
  return std::tuple{JsonName{"pages_begin", &T::pages_begin}, JsonName{"next_page", &T::next_page},
                    JsonName{"block", &T::block}, JsonName{"block_begin", &T::block_begin}};
}
constexpr auto json_members(const WikipediaCounts*) {
  using formats::JsonName;
  using T = WikipediaCounts;
  return std::tuple{JsonName{"pages", &T::pages},
                    JsonName{"redirects", &T::redirects},
                    JsonName{"other_namespaces", &T::other_namespaces},
                    JsonName{"disambiguations", &T::disambiguations},
                    JsonName{"cut", &T::cut},
                    JsonName{"empty", &T::empty},
                    JsonName{"articles", &T::articles},
                    JsonName{"sentences", &T::sentences},
                    JsonName{"bytes_read", &T::bytes_read},
                    JsonName{"bytes_written", &T::bytes_written},
                    JsonName{"bad_files", &T::bad_files},
                    JsonName{"dropped", &T::dropped}};
}
constexpr auto json_members(const WikipediaState*) {
  using formats::JsonName;
  using T = WikipediaState;
  return std::tuple{JsonName{"file", &T::file}, JsonName{"dump", &T::dump},
                    JsonName{"blocks", &T::blocks}, JsonName{"habits", &T::habits},
                    JsonName{"counts", &T::counts}};
}

namespace {

// The version goes up with every change of the text that is made of the same input.
constexpr int kTextVersion = 3;

formats::Json identity_of(const WikipediaOptions& options) {
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

// Learned from the text of the same files, before it is split.
text::StopHabits habits_of(const WikipediaOptions& options) {
  HabitLearning learning;
  WikipediaOptions beginning = options;
  beginning.may_be_empty = beginning.skip_bad = true;  // the reading that splits reports both
  beginning.enough_bytes = HabitLearning::kBytes;
  const auto learn = [&](std::string_view text) {
    while (!text.empty()) learning.add(text::take_line(text));
  };
  WikipediaProgress progress;
  read_wikipedia(beginning, {}, progress,
                 {.text = learn,
                  .pause = [](const WikipediaState&) { platform::stop_if_requested(); },
                  .notice = [](const std::string&) {}});
  return learning.learn();
}

// The state that an interrupted run has left, or that of a beginning.
WikipediaState first_state(const ResumableOutput& output, const WikipediaOptions& options,
                           const std::function<void(const std::string&)>& notice) {
  if (!output.state().is_null()) {
    const auto state = output.state().get<WikipediaState>();
    notice(fmt::format("continuing where this was interrupted, after {} articles",
                       state.counts.articles));
    return state;
  }
  WikipediaState state;
  if (!output.is_complete()) state.habits = habits_of(options);
  if (const auto learned = describe_habits(state.habits); !learned.empty()) notice(learned);
  return state;
}

}  // namespace

WikipediaCounts write_wikipedia_text(const WikipediaFileOptions& options,
                                     WikipediaProgress& progress,
                                     const std::function<void(const std::string&)>& notice) {
  ResumableOutput output(
      {.output_files = {options.output_file}, .identity = identity_of(options.input)});
  output.check_input(digest_of(options.input.files));
  WikipediaState state = first_state(output, options.input, notice);
  if (!output.is_complete()) {
    const text::SentenceSplitter splitter(state.habits);
    WikipediaOptions input = options.input;
    input.splitter = &splitter;
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
      read_wikipedia(input, WikipediaState(state), progress,
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
