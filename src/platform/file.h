// Files: reading, memory mapping, and writing whole or not at all.
// Errors: UserError or EnvironmentError that names the path and what the system said.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "platform/descriptor.h"
#include "platform/memory.h"

namespace cloze::platform {

// The whole file. UserError when it does not exist or cannot be read.
std::string read_file(const std::filesystem::path& path);

// Calls body(bytes) for the file piece by piece, in order, with little of it in memory at a time.
void read_in_pieces(const std::filesystem::path& path,
                    const std::function<void(std::span<const std::byte>)>& body);

// "-": standard input.
bool is_standard_input(const std::filesystem::path& path);

// Reads a pipe, a device or standard input to its end; UserError when it cannot be read.
void read_stream(const std::filesystem::path& path,
                 const std::function<void(std::string_view)>& visit);

// A file mapped read-only for as long as this object lives.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);

  std::span<const std::byte> bytes() const { return {pages_.get(), pages_.get_deleter().bytes}; }
  std::string_view text() const {
    return {reinterpret_cast<const char*>(pages_.get()), pages_.get_deleter().bytes};
  }
  // What was read of it so far leaves the memory of this process; it comes back from the system's
  // cache, or the file, when it is read again.
  void release_memory() const;

 private:
  Pages pages_;
};

// A file written under a temporary name beside its path, and published by commit():
// flush, fsync, rename, fsync of the folder. Destroyed without commit, it leaves nothing behind;
// what a killed process left of the same file is removed when the file is next written.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* data, size_t bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }
  void commit();
  const std::filesystem::path& path() const { return path_; }

 private:
  void flush();
  std::filesystem::path path_;
  std::filesystem::path temporary_;  // empty: published
  std::string buffer_;
  Descriptor file_;
};

void write_file_atomically(const std::filesystem::path& path, std::string_view text);

// A file that only grows; every append is written through to the system at once.
class AppendFile {
 public:
  // keep_bytes: the file is cut to this length first (resuming a log); negative keeps all.
  explicit AppendFile(const std::filesystem::path& path, int64_t keep_bytes = -1);
  void append(std::string_view text);

 private:
  std::filesystem::path path_;
  Descriptor file_;
};

// Held while files of a folder are written: no other process holds it too, and none is held by a
// process that is gone. EnvironmentError when another process has it.
class FolderLock {
 public:
  explicit FolderLock(const std::filesystem::path& folder);

 private:
  Descriptor folder_;
};

// Creates the folder and its parents; EnvironmentError when it cannot be written to.
void make_writable_directory(const std::filesystem::path& path);

// A folder for output, made before there is any: where work ends with an error before the first
// file, what was made for it goes again.
class MadeFolder {
 public:
  // Makes the folder and its parents. EnvironmentError as make_writable_directory().
  explicit MadeFolder(const std::filesystem::path& path);
  // Removes those of them that were not there before and are empty.
  ~MadeFolder();
  MadeFolder(const MadeFolder&) = delete;
  MadeFolder& operator=(const MadeFolder&) = delete;

 private:
  std::vector<std::filesystem::path> made_;  // innermost first
};

// Makes renames and new names in the folder durable.
void sync_directory(const std::filesystem::path& path);

// Comma list of paths and glob patterns → existing files, sorted within each pattern.
// A folder stands for every file below it; "-", standard input, stays as it is. Temporary and
// partial files of ours, which a killed process may have left, belong to no pattern and no folder.
// What is there under the very name of a pattern is meant by it. UserError when a pattern matches
// nothing.
std::vector<std::filesystem::path> expand_paths(std::string_view comma_list);

struct ReadAndWritten {
  std::vector<std::filesystem::path> inputs;   // files, folders; "-" and "" are none
  std::vector<std::filesystem::path> outputs;  // files; "" is none
};
// Before anything is read: UserError when an output is an input, under whatever name, or lies in a
// folder that is one, such as a token store or a model.
void require_other_files(const ReadAndWritten& files);

}  // namespace cloze::platform
