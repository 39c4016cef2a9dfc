// The objects behind the handles of cloze_runtime.h, and guarded(), by which a function of it fails.
#pragma once

#include <cloze_runtime.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <typeindex>
#include <utility>
#include <vector>

#include "base/error.h"
#include "inference/inference_client.h"
#include "text/tokenizer.h"

namespace cloze::c_api {

// A model or client that is open. Weights are packed for the instruction set of the moment, so it
// may not change while there is one.
class Open {
 public:
  Open() { ++count_; }
  ~Open() { --count_; }
  Open(const Open&) = delete;
  Open& operator=(const Open&) = delete;
  static bool any() { return count_ > 0; }

 private:
  static inline std::atomic<int64_t> count_ = 0;
};

// Makes cloze_last_error() and cloze_last_error_status() say this in this thread.
void remember_error(const std::exception& error) noexcept;

// Returns what `body` does; `failed` when it throws.
template <typename Result, class Body>
Result guarded(Result failed, const Body& body) noexcept {
  try {
    return body();
  } catch (const std::exception& error) {
    remember_error(error);
  } catch (...) {
    remember_error(std::runtime_error("an error without a name"));
  }
  return failed;
}

// The object behind a handle. UserError where there is none: "there is no model; open one with
// cloze_model_open".
template <class Handle>
Handle& opened(Handle* handle, std::string_view what, std::string_view opener) {
  if (handle == nullptr) throw_user_error("there is no {}; open one with {}", what, opener);
  return *handle;
}

// Checks the number of texts of a call.
void check_count(std::string_view function, std::string_view what, int64_t count);
// Checks that a call knows its flags.
void check_flags(std::string_view function, int flags, int known);

// A text of a caller. UserError for NULL and for a length below -1; `what` and its number name it.
std::string_view text_of(const cloze_text& text, std::string_view what, int64_t number);
// The texts of a call, copied.
std::vector<std::string> texts_of(const cloze_text* texts, std::string_view what, int64_t count);
// The second texts of a call; one without bytes is empty, and all are where `texts` is NULL.
std::vector<std::string> pairs_of(const cloze_text* texts, int64_t count);

}  // namespace cloze::c_api

struct cloze_tokenizer {
  std::shared_ptr<const cloze::text::Tokenizer> shared;
};

struct cloze_model {
  std::shared_ptr<const cloze::inference::PackedModel> packed;
  std::string architecture = packed->pretrained().architecture();
  cloze_tokenizer tokenizer{{packed, &packed->tokenizer()}};
  cloze::c_api::Open open = {};
};

struct cloze_client {
  // The task of the model's head, made when it is first asked for: a class of src/tasks.
  template <class Task>
  Task& task_as() {
    if (task == nullptr || task_type != typeid(Task)) {
      task = std::make_shared<Task>(model, client.num_threads());
      task_type = typeid(Task);
    }
    return *static_cast<Task*>(task.get());
  }

  std::shared_ptr<const cloze::inference::PackedModel> model;
  cloze::inference::InferenceClient client;
  std::shared_ptr<void> task = {};
  std::type_index task_type = typeid(void);  // of what is in it
  cloze::c_api::Open open = {};
};
