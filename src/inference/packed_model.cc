#include "inference/packed_model.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <fstream>
#include <iterator>
#include <span>
#include <tuple>
#include <utility>

#include "base/division.h"
#include "base/error.h"
#include "checkpoints/hugging_face_config.h"
#include "checkpoints/stored_head.h"
#include "checkpoints/stored_model.h"
#include "checkpoints/stored_tokenizer.h"
#include "engine/devices.h"
#include "feed/parameter_loading.h"
#include "formats/json.h"
#include "formats/xxh3.h"
#include "platform/files/atomic_file.h"
#include "platform/files/file.h"
#include "text/ascii.h"
#include "text/vocabulary.h"

namespace cloze::inference {
namespace {

static_assert(std::endian::native == std::endian::little, "packed models are read as they are");

constexpr std::string_view kMagic = "clozemdl";
constexpr uint32_t kVersion = 6;
constexpr uint64_t kPageBytes = 4096;

struct RawHeader {
  std::array<char, 8> magic{};
  uint32_t version = kVersion;
  uint32_t header_bytes = 0;  // with the checksum of the header
  uint64_t description_bytes = 0;
  uint64_t vocabulary_bytes = 0;
  uint64_t weights_offset = 0;
  uint64_t weights_bytes = 0;
  uint64_t text_hash = 0;     // of everything between the header and the weights
  uint64_t weights_hash = 0;  // low half of XXH3 of 128 bits
};
static_assert(sizeof(RawHeader) == 64 && std::is_trivially_copyable_v<RawHeader>);
constexpr uint64_t kHeaderBytes = sizeof(RawHeader) + sizeof(uint64_t);

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// Shapes that suit any head: weights do not depend on them.
constexpr models::BatchShape kSomeShape{.tokens = 16, .sequences = 1, .predictions = 1};

const backend::Backend& backend_of(const PackOptions& options) {
  return engine::device_named(options.device).backend();
}

plan::Program program_of(graph::Graph graph, const PackOptions& options) {
  return plan::make_program(std::move(graph), backend_of(options), {.threads = 1});
}

graph::Graph trained_graph(const PretrainedModel& model, const PackOptions& options) {
  return inference_graph(model.config, model.head, kSomeShape, options);
}

formats::Json table_of(const plan::Program& program) {
  auto table = formats::Json::array();
  for (const graph::Value weight : program.graph.variables(graph::VariableRole::kParameter)) {
    const graph::ValueInfo& info = program.graph.info(weight);
    table.push_back({{"name", info.name},
                     {"dtype", name_of(info.type.dtype)},
                     {"shape", info.type.shape.dims()},
                     {"offset", program.locations[weight.index].offset}});
  }
  return table;
}

[[noreturn]] void throw_damaged(const std::filesystem::path& file, std::string_view what) {
  throw_data_error("{}: {}; the file is damaged: make it again with cloze compile", file.string(),
                   what);
}

// The header, once it is certain that it describes this file.
RawHeader read_header(const platform::MappedFile& mapped, const std::filesystem::path& file) {
  const std::string_view bytes = mapped.text();
  RawHeader header;
  if (!bytes.starts_with(kMagic)) {
    throw_data_error("{} is not a packed model; make one with cloze compile", file.string());
  }
  if (bytes.size() < kHeaderBytes) throw_damaged(file, "cut off in the header");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.version != kVersion) {
    throw_user_error(
        "{}: version {} of packed models; this program reads version {}: make it again with "
        "cloze compile",
        file.string(), header.version, kVersion);
  }
  uint64_t hash = 0;
  std::memcpy(&hash, bytes.data() + sizeof header, sizeof hash);
  if (header.header_bytes != kHeaderBytes ||
      formats::xxh3(bytes_of(bytes.substr(0, sizeof header))) != hash) {
    throw_damaged(file, "checksum of the header does not match");
  }
  // A checksum proves nothing: these checks keep what follows inside the file.
  const uint64_t size = bytes.size();
  if (header.weights_offset > size || header.weights_bytes != size - header.weights_offset ||
      header.weights_offset % kPageBytes != 0 || header.description_bytes > size ||
      header.vocabulary_bytes > size ||
      kHeaderBytes + header.description_bytes + header.vocabulary_bytes > header.weights_offset) {
    throw_damaged(file, fmt::format("has {} bytes, not the number in its header", size));
  }
  const std::string_view text = bytes.substr(kHeaderBytes, header.weights_offset - kHeaderBytes);
  if (formats::xxh3(bytes_of(text)) != header.text_hash) {
    throw_damaged(file, "checksum of the description does not match");
  }
  return header;
}

constexpr size_t kPieceBytes = 1 << 24;

// visit(offset, size) for the pieces of so many bytes.
template <typename Visit>
void for_each_piece(size_t bytes, Visit visit) {
  for (size_t at = 0; at < bytes; at += kPieceBytes) visit(at, std::min(kPieceBytes, bytes - at));
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A little at a time, so that memory does not hold the file beside the weights.
std::shared_ptr<const backend::DeviceMemory> read_weights(const platform::MappedFile& mapped,
                                                          const RawHeader& header,
                                                          backend::Device& device,
                                                          const std::filesystem::path& file) {
  const std::span<const std::byte> stored = mapped.bytes().subspan(header.weights_offset);
  std::shared_ptr<backend::DeviceMemory> weights = device.allocate(stored.size());
  const auto stream = device.make_stream();
  formats::Xxh3Digest digest;
  for_each_piece(stored.size(), [&](size_t at, size_t size) {
    const std::span<const std::byte> piece = stored.subspan(at, size);
    digest.update(text_of(piece));
    stream->copy_in(weights->start() + static_cast<int64_t>(at), piece);
    mapped.release_memory();
  });
  stream->finish();
  if (digest.low_half() != header.weights_hash) {
    throw_damaged(file, "checksum of the weights does not match");
  }
  return weights;
}

// visit(text) for the bytes of weights, piece by piece.
template <typename Visit>
void read_pieces(const backend::DeviceMemory& weights, backend::Device& device, Visit visit) {
  const auto stream = device.make_stream();
  std::vector<std::byte> piece;
  for_each_piece(weights.bytes(), [&](size_t at, size_t size) {
    piece.resize(size);
    stream->copy_out(weights.start() + static_cast<int64_t>(at), piece);
    visit(text_of(piece));
  });
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) lines.emplace_back(text::take_line(text));
  return lines;
}

formats::Json parse_description(std::string_view text, const std::filesystem::path& file) {
  auto parsed = formats::parse_json(text);
  if (!parsed) throw_damaged(file, "the description is not JSON");
  if (parsed->value("strassen", false)) {
    throw_user_error(
        "{}: its weights are packed for Strassen's algorithm, which this program does not have: "
        "make it again with cloze compile",
        file.string());
  }
  for (const char* key : {"config", "profile", "lower_case", "strip_accents",
                          "tokenize_chinese_chars", "precision", "weights"}) {
    if (!parsed->contains(key)) throw_damaged(file, fmt::format("the description lacks {}", key));
  }
  return *parsed;
}

// Puts a model together, with the notes on its tokenizer. `path` also names it in messages.
PretrainedModel assembled(std::filesystem::path path, const models::BertConfig& config,
                          models::BertHead head, checkpoints::StoredTokenizer tokenizer,
                          checkpoints::SentenceSettings sentences) {
  std::vector<std::string> notes = std::move(tokenizer.notes);
  const auto missing = text::missing_rows(tokenizer.vocabulary, config.vocab_size,
                                          tokenizer.vocabulary_file.string());
  if (missing) notes.push_back(*missing);
  return {.path = std::move(path),
          .config = config,
          .head = std::move(head),
          .tokenizer = {std::move(tokenizer.vocabulary), tokenizer.options, config.vocab_size},
          .sentences = std::move(sentences),
          .notes = std::move(notes)};
}

PretrainedModel model_of(const formats::Json& description, std::string_view vocabulary,
                         const std::filesystem::path& file) {
  const std::string source = file.string();
  const text::TokenizerOptions options{
      .profile = text::profile_from_name(description["profile"].get<std::string>()),
      .lower_case = description["lower_case"].get<bool>(),
      .strip_accents = description["strip_accents"].get<bool>(),
      .tokenize_chinese_chars = description["tokenize_chinese_chars"].get<bool>()};
  const auto config = checkpoints::bert_config_from_json(description["config"], source);
  auto head = checkpoints::bert_head_from_json(description["config"], source);
  checkpoints::SentenceSettings sentences;
  if (head.kind == models::HeadKind::kEmbedding) {
    std::tie(head.embedding, sentences) =
        checkpoints::sentence_from_json(description.at("embedding"));
  }
  return assembled(file, config, std::move(head),
                   {.vocabulary = text::Vocabulary::from_tokens(lines_of(vocabulary)),
                    .options = options,
                    .vocabulary_file = file},
                   std::move(sentences));
}

PackOptions options_of(const formats::Json& description, const std::string& device) {
  const bool is_bf16 = description["precision"] == name_of(DType::kBF16);
  return {.device = device, .precision = is_bf16 ? DType::kBF16 : DType::kF32};
}

void check_layout(const formats::Json& description, const PackOptions& options,
                  const std::filesystem::path& file) {
  std::vector<backend::LayoutFact> facts = backend_of(options).weight_layout(options.precision);
  for (backend::LayoutFact& fact : facts) {
    const formats::Json* there = description.find(fact.name);
    if (there == nullptr) {
      throw_user_error(
          "{} was packed for another kind of device: make it again here with cloze compile",
          file.string());
    }
    std::visit([&]<typename T>(T& value) { value = there->get<T>(); }, fact.value);
  }
  if (const auto refusal = backend_of(options).refuse_layout(options.precision, facts)) {
    throw_user_error("{} {}: make it again here with cloze compile", file.string(), *refusal);
  }
}

}  // namespace

std::string PretrainedModel::architecture() const {
  return checkpoints::class_name(config, head.traits().architecture);
}

const models::BertHead& PretrainedModel::require_head(models::HeadKind kind) const {
  if (head.kind != kind) {
    throw_user_error("{} is a {}, where a {} is needed; give a model of that kind", path.string(),
                     architecture(),
                     checkpoints::class_name(config, models::traits_of(kind).architecture));
  }
  return head;
}

namespace {

constexpr const char* kMeanNote = "the vector of a text is the mean over its tokens";

// Reads how texts are given to a model that makes vectors of them; the tokenizer lower-cases where the
// folder says so.
checkpoints::SentenceSettings read_sentences(const std::filesystem::path& folder,
                                             const models::BertConfig& config,
                                             checkpoints::StoredTokenizer& tokenizer) {
  if (!checkpoints::has_modules(folder)) {
    tokenizer.notes.push_back(
        fmt::format("{} has no modules.json: {}", folder.string(), kMeanNote));
    return {};
  }
  checkpoints::SentenceSettings sentences = checkpoints::read_sentence_settings(folder, config);
  checkpoints::take_sentence_rules(sentences, tokenizer.options);
  return sentences;
}

}  // namespace

PretrainedModel as_encoder(PretrainedModel model, std::optional<ops::PoolingMode> pooling) {
  if (model.head.kind != models::HeadKind::kEmbedding) {
    model.notes.push_back(fmt::format("{} is a {}: its encoder is used, and {}",
                                      model.path.string(), model.architecture(),
                                      pooling ? "--pooling says how" : kMeanNote));
    model.head = {.kind = models::HeadKind::kEmbedding};
  }
  if (pooling) checkpoints::replace_pooling(model.head.embedding, *pooling, model.path);
  return model;
}

PretrainedModel open_pretrained_model(const std::filesystem::path& path) {
  const std::filesystem::path configuration = checkpoints::configuration_of(path);
  const models::BertConfig config = checkpoints::read_hugging_face_config(configuration);
  models::BertHead head = checkpoints::read_stored_head(path);
  const std::filesystem::path folder = checkpoints::folder_of(path);
  checkpoints::StoredTokenizer tokenizer = checkpoints::read_tokenizer(folder);
  checkpoints::SentenceSettings sentences;
  if (head.kind == models::HeadKind::kEmbedding) {
    sentences = read_sentences(folder, config, tokenizer);
  }
  return assembled(path, config, std::move(head), std::move(tokenizer), std::move(sentences));
}

PackedModel::PackedModel(PretrainedModel model, const PackOptions& options)
    : model_(std::move(model)), options_(options) {}

graph::Graph PackedModel::graph(const models::BatchShape& shape) const {
  return packed_graph(config(), head(), shape, options_);
}

PackedModel PackedModel::packed(PretrainedModel model, const graph::Graph& trained,
                                const ReadParameter& read, const PackOptions& options) {
  PackedModel made(std::move(model), options);
  made.weights_ = make_weights(trained, program_of(made.graph(kSomeShape), options), read,
                               engine::device_named(options.device), options.target);
  return made;
}

PackedModel PackedModel::pack(PretrainedModel model, const PackOptions& options) {
  const graph::Graph trained = trained_graph(model, options);
  const feed::StoredParameters stored(trained, model.path);
  std::ranges::move(stored.notes(), std::back_inserter(model.notes));
  const auto read = [&](const graph::ValueInfo& parameter, std::span<float> values) {
    stored.read(parameter.name, values);
  };
  return packed(std::move(model), trained, read, options);
}

PackedModel PackedModel::pack(PretrainedModel model, engine::Session& weights,
                              const PackOptions& options) {
  const graph::Graph trained = trained_graph(model, options);
  const auto read = [&](const graph::ValueInfo& parameter, std::span<float> values) {
    weights.executor().read(weights.value(parameter.name), std::as_writable_bytes(values));
  };
  return packed(std::move(model), trained, read, options);
}

bool PackedModel::is_packed(const std::filesystem::path& file) {
  std::array<char, kMagic.size()> start{};
  std::ifstream(file, std::ios::binary).read(start.data(), start.size());
  return std::string_view(start.data(), start.size()) == kMagic;
}

std::string PackedModel::description() const {
  const std::string config_text = checkpoints::hugging_face_config_text(config(), head());
  const text::TokenizerOptions& rules = tokenizer().options();
  formats::Json description{{"config", formats::Json::parse(config_text)},
                            {"profile", text::profile_name(rules.profile)},
                            {"lower_case", rules.lower_case},
                            {"strip_accents", rules.strips_accents()},
                            {"tokenize_chinese_chars", rules.tokenize_chinese_chars},
                            {"precision", name_of(options_.precision)}};
  if (head().kind == models::HeadKind::kEmbedding) {
    description["embedding"] = checkpoints::sentence_json(head().embedding, model_.sentences);
  }
  for (const auto& [name, value] : backend_of(options_).weight_layout(options_.precision)) {
    std::visit([&](auto stored) { description[name] = stored; }, value);
  }
  description["weights"] = table_of(program_of(graph(kSomeShape), options_));
  return formats::json_line(description);
}

void PackedModel::write(const std::filesystem::path& file) const {
  const std::string text = description();
  const std::string vocabulary = tokenizer().vocabulary().to_text();
  backend::Device& device = engine::device_named(options_.device);
  formats::Xxh3Digest digest;
  read_pieces(*weights_, device, [&](std::string_view piece) { digest.update(piece); });
  RawHeader header{.header_bytes = kHeaderBytes,
                   .description_bytes = text.size(),
                   .vocabulary_bytes = vocabulary.size(),
                   .weights_bytes = weights_->bytes(),
                   .weights_hash = digest.low_half()};
  kMagic.copy(header.magic.data(), kMagic.size());
  std::string between = text + vocabulary;
  const uint64_t end = kHeaderBytes + between.size();
  header.weights_offset = round_up(end, kPageBytes);
  between.resize(header.weights_offset - kHeaderBytes);
  header.text_hash = formats::xxh3(bytes_of(between));
  const std::string_view raw(reinterpret_cast<const char*>(&header), sizeof header);
  const uint64_t header_hash = formats::xxh3(bytes_of(raw));

  platform::AtomicFile out(file);
  out.write(raw);
  out.write(&header_hash, sizeof header_hash);
  out.write(between);
  read_pieces(*weights_, device, [&](std::string_view piece) { out.write(piece); });
  out.commit();
}

void PackedModel::check_weights(const std::string& table) const {
  const plan::Program program = program_of(graph(kSomeShape), options_);
  const auto arena = static_cast<size_t>(plan::Arena::kParameters);
  const auto bytes = static_cast<uint64_t>(program.arena_bytes[arena]);
  if (bytes != weights_->bytes() || table != formats::Json(table_of(program)).dump()) {
    throw_user_error(
        "{}: its weights are laid out for another version: make it again with cloze "
        "compile",
        model_.path.string());
  }
}

PretrainedModel PackedModel::read_description(const std::filesystem::path& file) {
  const platform::MappedFile mapped(file);
  const RawHeader header = read_header(mapped, file);
  const std::string_view text = mapped.text().substr(kHeaderBytes);
  try {
    const formats::Json description =
        parse_description(text.substr(0, header.description_bytes), file);
    return model_of(description, text.substr(header.description_bytes, header.vocabulary_bytes),
                    file);
  } catch (const formats::JsonError&) {
    throw_damaged(file, "the description has values of the wrong kind");
  }
}

PackedModel PackedModel::open(const std::filesystem::path& file, const std::string& device) {
  const platform::MappedFile mapped(file);
  const RawHeader header = read_header(mapped, file);
  const std::string_view text = mapped.text().substr(kHeaderBytes);
  try {
    const formats::Json description =
        parse_description(text.substr(0, header.description_bytes), file);
    const PackOptions options = options_of(description, device);
    check_layout(description, options, file);
    PackedModel made(
        model_of(description, text.substr(header.description_bytes, header.vocabulary_bytes), file),
        options);
    made.weights_ = read_weights(mapped, header, engine::device_named(device), file);
    made.check_weights(description["weights"].dump());
    return made;
  } catch (const formats::JsonError&) {
    throw_damaged(file, "the description has values of the wrong kind");
  }
}

}  // namespace cloze::inference
