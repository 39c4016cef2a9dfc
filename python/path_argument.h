// A path that a function takes, typed for Python in full: nanobind's own says os.PathLike, of whatever.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>

#include <filesystem>

namespace cloze_python {

struct PathArgument {
  std::filesystem::path path;
};

}  // namespace cloze_python

namespace nanobind::detail {

template <>
struct type_caster<cloze_python::PathArgument> {
  NB_TYPE_CASTER(cloze_python::PathArgument, const_name("str | os.PathLike[str]"))

  bool from_python(handle source, uint8_t flags, cleanup_list* cleanup) noexcept {
    make_caster<std::filesystem::path> caster;
    if (!caster.from_python(source, flags, cleanup)) return false;
    value.path = caster.value;
    return true;
  }
};

}  // namespace nanobind::detail
