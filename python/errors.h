// What fails in libcloze_runtime, as the exceptions of cloze/_errors.py.
#pragma once

namespace cloze_python {

// Makes cloze_runtime::Error in a bound function a cloze.UsageError where the caller can act (its
// status is 2), otherwise a cloze.Error; both have the sentence and the status.
void translate_errors();

}  // namespace cloze_python
