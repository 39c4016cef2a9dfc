#include "data/resumable_output.h"

#include <utility>

#include "base/error.h"
#include "data/output_files.h"
#include "formats/json.h"
#include "platform/files/atomic_file.h"
#include "platform/signals.h"

namespace cloze::data {
namespace {

namespace fs = std::filesystem;

// A path beside the first file, under a name of its own.
fs::path beside(const fs::path& first, const std::string& name) {
  fs::path path = first;
  return path += "." + name;
}

// The output files relative to the first one: a folder may be moved between two attempts.
formats::Json names_of(const std::vector<fs::path>& files) {
  const fs::path folder = fs::absolute(files.front()).lexically_normal().parent_path();
  formats::Json names = formats::Json::array();
  for (const fs::path& file : files) {
    names.push_back(fs::absolute(file).lexically_normal().lexically_relative(folder).string());
  }
  return names;
}

}  // namespace

ResumableOutput::ResumableOutput(const ResumableWork& work)
    : identity_(work.identity), outputs_(work.output_files.size()) {
  check_output_files(work.output_files);
  journal_ = platform::partial_path_of(beside(work.output_files.front(), "journal"));
  identity_["--output-file"] = names_of(work.output_files);
  std::vector<uint64_t> bytes(outputs_ + work.scratch_names.size());
  if (fs::exists(journal_)) read_journal(bytes);
  open_files(work);
  keep_files(bytes);
}

ResumableOutput::~ResumableOutput() {
  if (state_.is_null()) discard();
}

void ResumableOutput::open_files(const ResumableWork& work) {
  std::vector<fs::path> paths = work.output_files;
  for (const std::string& name : work.scratch_names) {
    paths.push_back(beside(work.output_files.front(), name));
  }
  for (const fs::path& path : paths) {
    if (path.has_parent_path()) folders_.emplace_back(path.parent_path());
    files_.push_back(std::make_unique<platform::PartialFile>(path));
  }
}

void ResumableOutput::fail(std::string_view why) const {
  throw_data_error("{}: {}; delete it to start over", journal_.string(), why);
}

void ResumableOutput::read_journal(std::vector<uint64_t>& bytes) {
  const formats::Json journal = formats::read_json_file(journal_);
  const size_t files = bytes.size();
  try {
    const std::string differences =
        formats::value_differences(journal.at("work"), identity_, "this command has");
    if (!differences.empty()) {
      throw_user_error(
          "{} belongs to interrupted work with {}; give the same command to continue, or "
          "delete that file to start over",
          journal_.string(), differences);
    }
    is_complete_ = journal.at("is_complete").get<bool>();
    bytes = journal.at("bytes").get<std::vector<uint64_t>>();
    input_ = journal.at("input").get<std::string>();
    state_ = journal.at("state");
  } catch (const formats::JsonError& error) {
    fail(error.what());
  }
  if (bytes.size() != files || state_.is_null()) fail("is not a journal of this work");
}

void ResumableOutput::check_input(const std::string& digest) {
  if (!state_.is_null() && input_ != digest) {
    throw_user_error(
        "{} belongs to interrupted work on other content of --input-file; give the same files "
        "to continue, or delete that file to start over",
        journal_.string());
  }
  input_ = digest;
}

void ResumableOutput::keep_files(const std::vector<uint64_t>& bytes) {
  for (size_t i = 0; i < files_.size(); ++i) {
    platform::PartialFile& file = *files_[i];
    if (file.bytes() >= bytes[i]) {
      file.keep(bytes[i]);
    } else if (is_complete_ && file.bytes() == 0) {
      files_[i].reset();  // it has its name already
    } else {
      fail(fmt::format("records {} bytes of {}, which has {}", bytes[i],
                       file.partial_path().string(), file.bytes()));
    }
  }
}

void ResumableOutput::write_journal(const formats::Json& state) const {
  std::vector<uint64_t> bytes;
  for (const auto& file : files_) bytes.push_back(file ? file->bytes() : 0);
  platform::write_file_atomically(journal_, formats::json_text({{"work", identity_},
                                                                {"input", input_},
                                                                {"bytes", bytes},
                                                                {"state", state},
                                                                {"is_complete", is_complete_}}));
}

void ResumableOutput::save(formats::Json state) {
  for (const auto& file : files_) file->sync();
  write_journal(state);
  state_ = std::move(state);
  platform::stop_if_requested();
}

void ResumableOutput::commit(formats::Json state) {
  if (!is_complete_) {
    for (const auto& file : files_) file->sync();
    is_complete_ = true;
    write_journal(state);
    state_ = std::move(state);
  }
  for (size_t i = 0; i < files_.size(); ++i) {
    if (files_[i]) i < outputs_ ? files_[i]->commit() : files_[i]->remove();
  }
  fs::remove(journal_);
}

void ResumableOutput::discard() {
  for (const auto& file : files_) {
    if (file) file->remove();
  }
  std::error_code ignored;
  fs::remove(journal_, ignored);
}

}  // namespace cloze::data
