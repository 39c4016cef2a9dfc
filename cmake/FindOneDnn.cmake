# oneDNN's library and headers: target DNNL::dnnl, OneDnn_VERSION.
# Debian's own dnnl-config.cmake requires the OpenCL headers, which its package does not pull in.
find_library(OneDnn_LIBRARY dnnl)
find_path(OneDnn_INCLUDE_DIR oneapi/dnnl/dnnl.hpp)
if(OneDnn_INCLUDE_DIR)
  file(STRINGS ${OneDnn_INCLUDE_DIR}/oneapi/dnnl/dnnl_version.h numbers REGEX "DNNL_VERSION_(MAJOR|MINOR|PATCH) ")
  string(REGEX MATCHALL "[0-9]+" numbers "${numbers}")
  string(JOIN . OneDnn_VERSION ${numbers})
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OneDnn REQUIRED_VARS OneDnn_LIBRARY OneDnn_INCLUDE_DIR VERSION_VAR OneDnn_VERSION)
if(OneDnn_FOUND AND NOT TARGET DNNL::dnnl)
  add_library(DNNL::dnnl UNKNOWN IMPORTED)
  set_target_properties(DNNL::dnnl PROPERTIES IMPORTED_LOCATION ${OneDnn_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${OneDnn_INCLUDE_DIR})
endif()
mark_as_advanced(OneDnn_LIBRARY OneDnn_INCLUDE_DIR)
