#include "platform/plug_in.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <string>

#include "platform/child.h"

namespace cloze::platform {
namespace {

namespace fs = std::filesystem;

fs::path path_of(const PlugIn& plug_in) {
  const fs::path folder = fs::path(path_of_this_program()).parent_path();
  const fs::path beside = folder / "lib/cloze/plug_ins" / plug_in.file;
  return fs::exists(beside) ? beside : folder.parent_path() / "lib/cloze/plug_ins" / plug_in.file;
}

ParseError missing(const PlugIn& plug_in, const fs::path& path) {
  return {
      fmt::format("this program's part for {}, {}, is not there; install the package {}, or "
                  "install {} and build the program again",
                  plug_in.serves, path.string(), plug_in.package, plug_in.needs)};
}

ParseError unusable(const PlugIn& plug_in) {
  return {
      fmt::format("this program's part for {} cannot be used: {}; install the package {}, which "
                  "brings what it needs",
                  plug_in.serves, dlerror(), plug_in.package)};
}

}  // namespace

Result<void*> find_in_plug_in(const PlugIn& plug_in) {
  const fs::path path = path_of(plug_in);
  if (!fs::exists(path)) return missing(plug_in, path);
  // Open MPI's own plug-ins look for its symbols among the global ones.
  void* const file = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (file == nullptr) return unusable(plug_in);
  void* const found = dlsym(file, plug_in.symbol);
  if (found == nullptr) return unusable(plug_in);
  return found;
}

}  // namespace cloze::platform
