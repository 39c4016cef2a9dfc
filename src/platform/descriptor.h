// System calls on file descriptors, with our errors.
#pragma once

#include <filesystem>
#include <string_view>

namespace cloze::platform {

// What errno says of "cannot ACTION PATH": UserError for a path that cannot be, EnvironmentError
// otherwise.
[[noreturn]] void throw_system_error(std::string_view action, const std::filesystem::path& path);

// Writes all of `bytes`; the path is for the message.
void write_all(int descriptor, std::string_view bytes, const std::filesystem::path& path);

// UserError when the path is empty, or names what a file cannot be renamed to or must not replace:
// a folder, a device.
void check_output_path(const std::filesystem::path& path);

std::filesystem::path folder_of(const std::filesystem::path& path);

}  // namespace cloze::platform
