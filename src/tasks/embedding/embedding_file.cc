#include "tasks/embedding/embedding_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string_view>

#include "base/error.h"
#include "data/resumable_output.h"
#include "formats/xxh3.h"
#include "platform/signals.h"
#include "tasks/embedding/vector_file.h"
#include "tasks/labelled/label_file.h"
#include "text/ascii.h"

namespace cloze::tasks {
namespace {

std::string digest_of(std::span<const std::string> texts) {
  formats::Xxh3Digest digest;
  for (const std::string& text : texts) {
    digest.update(text);
    digest.update("\n");
  }
  return digest.hex();
}

}  // namespace

bool holds_json_lines(const std::filesystem::path& file) {
  std::filesystem::path name = file.filename();
  if (name.extension() == ".gz" || name.extension() == ".zst") name = name.stem();
  return name.extension() == ".jsonl";
}

std::vector<std::string> read_texts(const std::filesystem::path& file, const std::string& field) {
  const std::string content = read_label_file(file);
  std::vector<std::string> texts;
  if (holds_json_lines(file)) {
    for_each_json_object(content, file, [&](const formats::Json& object, int64_t line) {
      const formats::Json* text = object.find(field);
      if (text == nullptr || !text->is_string()) {
        refuse_line(file, line, fmt::format("no text under \"{}\"; name its key", field));
      }
      texts.push_back(text->get<std::string>());
    });
  } else {
    for (std::string_view rest = content; !rest.empty();) {
      texts.emplace_back(text::take_line(rest));
    }
  }
  if (texts.empty()) throw_user_error("{} is empty; there is no text to embed", file.string());
  return texts;
}

void embed_into_file(TextEmbedder& embedder, std::span<const std::string> texts,
                     const EmbeddingFile& file, EmbeddingProgress& progress) {
  const VectorForm form = vector_form_of(file.path);
  data::ResumableOutput output({.output_files = {file.path}, .identity = file.identity});
  output.check_input(digest_of(texts));
  int64_t done = 0;
  if (output.state().is_null()) {
    const int64_t dimensions = file.options.dimensions.value_or(embedder.dimensions());
    output.output(0).append(vectors_start(form, std::ssize(texts), dimensions));
  } else {
    done = output.state().get<int64_t>();
  }
  progress.before = progress.texts = done;
  const auto portion = static_cast<size_t>(file.texts_at_once);
  auto saved = std::chrono::steady_clock::now();
  while (!output.is_complete() && done < std::ssize(texts)) {
    const auto rest = texts.subspan(static_cast<size_t>(done));
    std::string bytes;
    for (const TextEmbedding& one :
         embedder.embed(rest.first(std::min(portion, rest.size())), file.options)) {
      append_vector(form, one.values, bytes);
      if (file.visit) file.visit(one);
      ++done;
      progress.tokens += one.tokens;
    }
    output.output(0).append(bytes);
    progress.texts = done;
    const auto now = std::chrono::steady_clock::now();
    if (platform::stop_requested() || now - saved >= file.between_saves) {
      output.save(done);
      saved = now;
    }
  }
  output.commit(done);
}

}  // namespace cloze::tasks
