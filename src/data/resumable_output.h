// Output files that take hours to write, with a journal of their progress. Work that is interrupted
// by a signal, a killed process or a power failure loses only what came after the last save().
//
//   OUTPUT.partial          an output file while it grows
//   FIRST.NAME.partial      a file that is needed on the way only, beside the first output file
//   FIRST.journal.partial   the journal, JSON:
//     {"work": {"--seed": 7, ...},   what decides the bytes of the output, under the options' names
//      "input": "99aa...",           a name for the content of the input files
//      "bytes": [4096, ...],         of each output file, then of each other one
//      "state": ...,                 of the work; the work knows what it is
//      "is_complete": false}         true while the output files get their names
//
// The same work continues from its journal, after the files are cut to the lengths in it. Other
// work is refused; the error says what differs. Work that fails before its first save() leaves
// neither files nor folders that were made for them.
//
// Errors: UserError when the journal is of other work; DataError when it or the files are damaged;
// EnvironmentError when another process writes the same files, or the disk is full: what was saved
// stays then, for a second try with more room.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "formats/json.h"
#include "platform/files/folder.h"
#include "platform/files/partial_file.h"

namespace cloze::data {

struct ResumableWork {
  std::vector<std::filesystem::path> output_files;
  std::vector<std::string> scratch_names;  // of what is needed on the way only
  formats::Json identity;                  // what decides the bytes of the output
};

class ResumableOutput {
 public:
  explicit ResumableOutput(const ResumableWork& work);
  ~ResumableOutput();
  ResumableOutput(const ResumableOutput&) = delete;
  ResumableOutput& operator=(const ResumableOutput&) = delete;

  // Call it with a name for the content of the input, before the first save(). UserError when the
  // work that is resumed began with other input.
  void check_input(const std::string& digest);

  // The state that save() was last given; null when the work begins.
  const formats::Json& state() const { return state_; }
  // All was written: what is left to do is commit(), and no file may be asked for.
  bool is_complete() const { return is_complete_; }

  platform::PartialFile& output(size_t index) { return *files_[index]; }
  platform::PartialFile& scratch(size_t index) { return *files_[outputs_ + index]; }

  // Keeps what was written up to now. Interruption, afterwards, when a signal has asked to stop.
  void save(formats::Json state);
  // Gives the output files their names and removes all else.
  void commit(formats::Json state);
  // Leaves nothing: the same work would fail again.
  void discard();

 private:
  void open_files(const ResumableWork& work);
  void read_journal(std::vector<uint64_t>& bytes);
  void keep_files(const std::vector<uint64_t>& bytes);
  void write_journal(const formats::Json& state) const;
  [[noreturn]] void fail(std::string_view why) const;

  std::filesystem::path journal_;
  std::deque<platform::MadeFolder> folders_;  // before files_: those go first
  formats::Json identity_;
  std::string input_;
  formats::Json state_;
  bool is_complete_ = false;
  size_t outputs_ = 0;
  // Outputs, then the others; a file that has its name already is null.
  std::vector<std::unique_ptr<platform::PartialFile>> files_;
};

}  // namespace cloze::data
