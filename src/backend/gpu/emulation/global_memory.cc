#include "backend/gpu/emulation/global_memory.h"

namespace cloze::backend::gpu::emulation {

bool Region::note_span(int64_t first, int64_t last, const Place& place, Findings& findings) const {
  if (first >= 0 && last < extent_.elements) return true;
  findings.add(FindingKind::kOutOfBounds, place, "element {} of {}, which has {}",
               first < 0 ? first : last, name_, extent_.elements);
  return false;
}

bool Region::note_outside(int64_t first, size_t bytes, const Place& place,
                          Findings& findings) const {
  if (note_span(first, first + elements_in(bytes) - 1, place, findings)) {
    findings.add(FindingKind::kUnaligned, place, "{} bytes at element {} of {}", bytes, first,
                 name_);
  }
  return false;
}

Region::Touch& Region::touch(int64_t element) {
  if (touches_.empty()) touches_.resize(static_cast<size_t>(extent_.elements));
  return touches_[static_cast<size_t>(element)];
}

void Region::note_reader(int64_t first, size_t bytes, uint32_t thread, const Place& place,
                         Findings& findings) {
  const int64_t elements = elements_in(bytes);
  for (int64_t i = first; i < first + elements; ++i) {
    Touch& before = touch(i);
    if (before.writer != kNobody && before.writer != thread) {
      findings.add(FindingKind::kUnordered, place,
                   "thread {} reads element {} of {}, which thread {} of the launch writes", thread,
                   i, name_, before.writer);
    }
    const bool is_first = before.reader == kNobody || before.reader == thread;
    before.reader = is_first ? thread : kSeveral;
  }
}

bool Region::note_store(int64_t first, size_t bytes, uint32_t thread, const Place& place,
                        Findings& findings) {
  if (!is_inside(first, bytes, place, findings)) return false;
  const int64_t elements = elements_in(bytes);
  for (int64_t i = first; i < first + elements; ++i) {
    Touch& before = touch(i);
    const bool others_write = before.writer != kNobody && before.writer != thread;
    const bool others_read = before.reader != kNobody && before.reader != thread;
    if (others_write || others_read) {
      findings.add(FindingKind::kUnordered, place,
                   "thread {} writes element {} of {}, which another thread of the launch {}",
                   thread, i, name_, others_write ? "writes" : "reads");
    }
    before.writer = thread;
  }
  return true;
}

}  // namespace cloze::backend::gpu::emulation
