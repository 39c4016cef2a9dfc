#include "c_api/handles.h"

#include <cstring>
#include <filesystem>
#include <new>
#include <system_error>

#include "platform/descriptor.h"

namespace cloze::c_api {
namespace {

constexpr int64_t kMostTexts = 1'000'000;

thread_local std::string last_error;
thread_local int last_status = 0;

// Gives an error the program's exit status for it (src/cli/console/exit_code.h).
int status_of(const std::exception& error) {
  constexpr int kFault = 1, kCaller = 2, kData = 3, kMachine = 4;
  if (const auto* path = dynamic_cast<const std::filesystem::filesystem_error*>(&error)) {
    return platform::is_about_a_path(path->code().value()) ? kCaller : kMachine;
  }
  if (dynamic_cast<const DataError*>(&error) != nullptr) return kData;
  if (dynamic_cast<const UserError*>(&error) != nullptr) return kCaller;
  if (dynamic_cast<const EnvironmentError*>(&error) != nullptr) return kMachine;
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return kMachine;
  if (dynamic_cast<const std::system_error*>(&error) != nullptr) return kMachine;
  return kFault;
}

}  // namespace

// Without memory for the sentence, the one before it stays.
void remember_error(const std::exception& error) noexcept {
  last_status = status_of(error);
  try {
    last_error = error.what();
  } catch (const std::exception&) {
    last_error.clear();
  }
}

void check_count(std::string_view function, std::string_view what, int64_t count) {
  if (count >= 1 && count <= kMostTexts) return;
  throw_user_error("{} got {} {}; give 1 to {}", function, count, what, kMostTexts);
}

void check_flags(std::string_view function, int flags, int known) {
  if ((flags & ~known) == 0) return;
  throw_user_error("{} got flags {}; it knows 0 and {}", function, flags, known);
}

std::string_view text_of(const cloze_text& text, std::string_view what, int64_t number) {
  if (text.bytes == nullptr) throw_user_error("{} {} is NULL; give its bytes", what, number);
  if (text.length < -1) {
    throw_user_error("{} {} has {} bytes; give 0 or more, or -1 for all up to the first NUL", what,
                     number, text.length);
  }
  const size_t length =
      text.length == -1 ? std::strlen(text.bytes) : static_cast<size_t>(text.length);
  return {text.bytes, length};
}

std::vector<std::string> texts_of(const cloze_text* texts, std::string_view what, int64_t count) {
  if (texts == nullptr) throw_user_error("there is no {}; give an array of {}", what, count);
  std::vector<std::string> copies;
  for (int64_t i = 0; i < count; ++i) copies.emplace_back(text_of(texts[i], what, i));
  return copies;
}

std::vector<std::string> pairs_of(const cloze_text* texts, int64_t count) {
  std::vector<std::string> copies(static_cast<size_t>(count));
  if (texts == nullptr) return copies;
  for (int64_t i = 0; i < count; ++i) {
    if (texts[i].bytes != nullptr) copies[static_cast<size_t>(i)] = text_of(texts[i], "pair", i);
  }
  return copies;
}

}  // namespace cloze::c_api

const char* cloze_last_error(void) { return cloze::c_api::last_error.c_str(); }
int cloze_last_error_status(void) { return cloze::c_api::last_status; }
