#include "formats/mediawiki_dump.h"

#include <expat.h>

#include <charconv>
#include <exception>

#include "base/error.h"

namespace cloze::formats {
namespace {

// MediaWiki refuses pages over 2 MiB; dumps of other wikis may hold larger ones.
constexpr size_t kLongestText = 64 << 20;
constexpr size_t kLongestField = 4096;
constexpr size_t kMostNamespaces = 1000;

}  // namespace

struct MediaWikiDump::State {
  explicit State(PageVisitor page_visitor)
      : visitor(std::move(page_visitor)), parser(XML_ParserCreate("UTF-8")) {
    if (parser == nullptr) throw_environment_error("libexpat cannot start: no memory");
    XML_SetUserData(parser, this);
    XML_SetElementHandler(parser, on_start, on_end);
    XML_SetCharacterDataHandler(parser, on_text);
  }
  ~State() { XML_ParserFree(parser); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  // libexpat is C: an exception must not pass through it, so it waits here.
  static void on_start(void* user, const XML_Char* name, const XML_Char** attributes) {
    static_cast<State*>(user)->start(name, attributes);
  }
  static void on_end(void* user, const XML_Char* name) {
    State& state = *static_cast<State*>(user);
    try {
      state.end(name);
    } catch (...) {
      state.error = std::current_exception();
      XML_StopParser(state.parser, XML_FALSE);
    }
  }
  static void on_text(void* user, const XML_Char* text, int size) {
    static_cast<State*>(user)->append({text, static_cast<size_t>(size)});
  }

  // The place in the document of what is parsed now.
  uint64_t place() const {
    const XML_Index index = XML_GetCurrentByteIndex(parser);  // -1 where nothing was parsed
    return (index < 0 ? 0 : static_cast<uint64_t>(index)) + skipped;
  }

  void start(std::string_view name, const XML_Char** attributes) {
    target = nullptr;
    if (name == "mediawiki") {
      site.language = attribute("xml:lang", attributes);
    } else if (name == "namespace") {
      start_namespace(attributes);
    } else if (name == "page") {
      if (!has_pages) pages_begin = place();
      has_pages = true;
      page = {};
      field.clear();
    } else if (name == "redirect") {
      page.is_redirect = true;
    } else if (name == "title") {
      target = &page.title;
    } else if (name == "ns") {
      field.clear();
      target = &field;
    } else if (name == "text") {
      page.text.clear();  // a later revision is newer
      target = &page.text;
    }
  }

  // Names and values take turns, and a null ends them.
  static std::string_view attribute(std::string_view name, const XML_Char** attributes) {
    for (; *attributes != nullptr; attributes += 2) {
      if (name == attributes[0]) return attributes[1];
    }
    return {};
  }

  // The wiki's own description does not change once its pages are read.
  void start_namespace(const XML_Char** attributes) {
    if (has_pages || site.namespaces.size() == kMostNamespaces) return;
    MediaWikiNamespace& added = site.namespaces.emplace_back();
    const std::string_view key = attribute("key", attributes);
    std::from_chars(key.data(), key.data() + key.size(), added.id);
    target = &added.name;
  }

  void end(std::string_view name) {
    target = nullptr;
    if (name == "ns") {
      std::from_chars(field.data(), field.data() + field.size(), page.namespace_id);
    } else if (name == "page") {
      page_end = place() + static_cast<uint64_t>(XML_GetCurrentByteCount(parser));
      visitor(std::move(page));
      page = {};
    }
  }

  void append(std::string_view text) {
    if (target == nullptr) return;
    const size_t most = target == &page.text ? kLongestText : kLongestField;
    const size_t room = most - target->size();
    if (text.size() > room) page.is_cut = true;
    target->append(text.substr(0, room));
  }

  PageVisitor visitor;
  XML_Parser parser;
  MediaWikiSite site;
  bool has_pages = false;
  uint64_t pages_begin = 0;
  uint64_t page_end = 0;
  uint64_t fed = 0;
  uint64_t skipped = 0;  // bytes of the document that were not fed
  MediaWikiPage page;
  std::string field;
  std::string* target = nullptr;  // where text goes now
  std::exception_ptr error;
};

MediaWikiDump::MediaWikiDump(PageVisitor visitor)
    : state_(std::make_unique<State>(std::move(visitor))) {}

MediaWikiDump::~MediaWikiDump() = default;

void MediaWikiDump::parse(std::string_view bytes, bool is_last) {
  state_->fed += bytes.size();
  const auto status =
      XML_Parse(state_->parser, bytes.data(), static_cast<int>(bytes.size()), is_last);
  if (state_->error) std::rethrow_exception(state_->error);
  if (status != XML_STATUS_ERROR) return;
  // After a skip, the line number is unknown.
  const std::string line =
      state_->skipped > 0 ? "" : fmt::format(", line {}", XML_GetCurrentLineNumber(state_->parser));
  throw_data_error("the XML breaks at byte {}{}: {}", state_->place(), line,
                   XML_ErrorString(XML_GetErrorCode(state_->parser)));
}

void MediaWikiDump::feed(std::string_view bytes) { parse(bytes, false); }
void MediaWikiDump::finish() { parse({}, true); }
const MediaWikiSite& MediaWikiDump::site() const { return state_->site; }
uint64_t MediaWikiDump::pages_begin() const { return state_->pages_begin; }
uint64_t MediaWikiDump::page_end() const { return state_->page_end; }

void MediaWikiDump::skip_to(uint64_t place) {
  CLOZE_CHECK(place >= state_->fed, "to byte {} after {}", place, state_->fed);
  state_->skipped = place - state_->fed;
  state_->has_pages = true;
  state_->pages_begin = state_->fed;
}

}  // namespace cloze::formats
