// Open files of the system, and calls on them with our errors.
#pragma once

#include <filesystem>
#include <string_view>
#include <utility>

namespace cloze::platform {

// An open file, a socket or an end of a pipe, closed with this object.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();  // errno stays what it was

  bool is_open() const { return number_ >= 0; }
  int number() const { return number_; }
  // False when the system reports an error (errno).
  bool close();
  // False, and nothing is locked, where another has the lock. On file systems without locks, none
  // is taken.
  bool lock() const;

 private:
  int number_;
};

// Says whether an errno means that the path is wrong, not that the machine failed.
bool is_about_a_path(int code);

// Throws what errno says of "cannot ACTION PATH": UserError when it is about the path,
// EnvironmentError otherwise.
[[noreturn]] void throw_system_error(std::string_view action, const std::filesystem::path& path);

// Opens it by open(2); closed when the process executes another program. `action` is for the
// message.
Descriptor open_file(const std::filesystem::path& path, int flags, std::string_view action);

// Says whether the path is still that of the open file: another process may have renamed or removed
// it before it was locked here.
bool is_file_at(const Descriptor& file, const std::filesystem::path& path);

struct Pipe {
  Descriptor reading;
  Descriptor writing;
};
// EnvironmentError when the system has no more.
Pipe make_pipe();

// Writes all of `bytes`; false, with errno, when that fails.
bool write_all(const Descriptor& file, std::string_view bytes);
// The path is for the message.
void write_all(const Descriptor& file, std::string_view bytes, const std::filesystem::path& path);

}  // namespace cloze::platform
