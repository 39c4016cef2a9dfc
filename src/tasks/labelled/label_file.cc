#include "tasks/labelled/label_file.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/whole_number.h"
#include "formats/decompression.h"
#include "platform/files/file.h"
#include "text/ascii.h"
#include "text/utf8.h"

namespace cloze::tasks {

namespace fs = std::filesystem;

std::string read_label_file(const fs::path& file) {
  std::string bytes;
  platform::read_stream(file, [&](std::string_view piece) { bytes += piece; });
  const auto compression = formats::compression_of(std::as_bytes(std::span(bytes)));
  std::string text;
  if (compression == formats::Compression::kNone) {
    text = std::move(bytes);
  } else {
    formats::decompress(compression, std::as_bytes(std::span(bytes)), file,
                        [&](std::string_view piece) { text += piece; });
  }
  text.erase(0, text.size() - text::without_byte_order_mark(text).size());
  return text;
}

void refuse_line(const fs::path& file, int64_t line, const std::string& what) {
  throw_data_error("{}:{}: {}", file.string(), line, what);
}

namespace {

using Visit = std::function<void(const formats::Json& object, int64_t line)>;

void visit_object(const formats::Json& object, const fs::path& file, int64_t line,
                  const Visit& visit) {
  if (!object.is_object()) refuse_line(file, line, "is no JSON object");
  visit(object, line);
}

void visit_array(std::string_view text, const fs::path& file, const Visit& visit) {
  const Result<formats::Json> parsed = formats::parse_json(text);
  if (!parsed) throw_data_error("{}", formats::message_at(file, text, parsed.error()));
  int64_t number = 0;
  for (const formats::Json& object : *parsed) visit_object(object, file, ++number, visit);
}

}  // namespace

void for_each_json_object(std::string_view text, const fs::path& file, const Visit& visit) {
  if (text::trim_ascii(text).starts_with('[')) return visit_array(text, file, visit);
  for (int64_t line = 1; !text.empty(); ++line) {
    const std::string_view one = text::take_line(text);
    if (text::trim_ascii(one).empty()) continue;
    const Result<formats::Json> parsed = formats::parse_json(one);
    if (!parsed) refuse_line(file, line, parsed.error().message);
    visit_object(*parsed, file, line, visit);
  }
}

std::vector<std::string> ordered_labels(const std::set<std::string>& labels) {
  std::vector<std::string> ordered(labels.begin(), labels.end());
  const auto value = [](const std::string& label) { return number_in<int64_t>(label); };
  const auto is_number = [&](const std::string& label) { return value(label).has_value(); };
  if (std::ranges::all_of(ordered, is_number)) {
    std::ranges::sort(ordered, {}, [&](const std::string& label) { return *value(label); });
  }
  return ordered;
}

}  // namespace cloze::tasks
