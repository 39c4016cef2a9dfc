# Read by cpack before it makes each kind of package: which components go into it (cmake/packages.cmake). cpack hears only of variables
# whose names begin with CPACK.
if(NOT DEFINED ENV{SOURCE_DATE_EPOCH})
  set(ENV{SOURCE_DATE_EPOCH} ${CPACK_CLOZE_SECONDS})  # the time of every file in a package
endif()
if(CPACK_GENERATOR STREQUAL "DEB")
  set(CPACK_COMPONENTS_ALL ${CPACK_CLOZE_DEB_COMPONENTS})
  set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
  set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each package has its own
else()
  set(CPACK_COMPONENTS_ALL ${CPACK_CLOZE_ARCHIVE_COMPONENTS})
  set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
  set(CPACK_COMPONENT_INCLUDE_TOPLEVEL_DIRECTORY ON)
endif()
