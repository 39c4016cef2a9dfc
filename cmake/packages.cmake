# Packages, made by `cpack` in a build of the preset `packages`, whose folders are those of Debian. Each .deb is a group of
# components, which are what install() rules name:
#   cloze                   the program, what it reads, a unit for systemd that serves a model
#   cloze-mpi, cloze-hdf5   its plug-ins, so that the program needs neither Open MPI nor HDF5
#   libcloze-runtime0       the C library; by Debian's rule the name follows from its SONAME, libcloze_runtime.so.0
#   libcloze-runtime-dev    headers, and what CMake and pkg-config ask
# The preset compiles all files apart: joined ones have absolute names, and messages of faults would show the builder's folders.
# The archive, cloze-VERSION-Linux-x86_64.tar.gz, has the program with the libraries that it needs, and its plug-ins.
set(CLOZE_MAINTAINER "cloze <cloze@localhost>" CACHE STRING "Who answers for packages: Name <address>")
include(GNUInstallDirs)
get_property(plug_ins GLOBAL PROPERTY CLOZE_PLUG_INS)

# The time of the last commit, or SOURCE_DATE_EPOCH: the same sources make the same packages.
set(seconds $ENV{SOURCE_DATE_EPOCH})
if(NOT seconds)
  execute_process(COMMAND git log -1 --format=%ct WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE seconds
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT seconds)
  set(seconds 0)
endif()
execute_process(COMMAND env LC_ALL=C date -u -R -d @${seconds} OUTPUT_VARIABLE CLOZE_PACKAGE_DATE OUTPUT_STRIP_TRAILING_WHITESPACE)

set(package_files ${PROJECT_SOURCE_DIR}/packages)
set(made ${PROJECT_BINARY_DIR}/package_files)
configure_file(${package_files}/debian/changelog.in ${made}/changelog.Debian @ONLY)
configure_file(CHANGELOG.md ${made}/changelog COPYONLY)
execute_process(COMMAND gzip -9nkf changelog.Debian changelog WORKING_DIRECTORY ${made} COMMAND_ERROR_IS_FATAL ANY)

# cloze_package(GROUP NAME package SECTION section COMPONENTS ... DESCRIPTION text [OVERRIDES file])
# A .deb, with the documents that Debian wants of each. No semicolon in the text: CPack cuts there. OVERRIDES: findings of lintian
# that are its own and stay, with their reasons.
function(cloze_package group)
  cmake_parse_arguments(PACKAGE "" "NAME;SECTION;DESCRIPTION" "COMPONENTS;OVERRIDES" ${ARGN})
  string(TOUPPER ${group} GROUP)
  install(FILES ${package_files}/debian/copyright ${made}/changelog.Debian.gz ${made}/changelog.gz
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${PACKAGE_NAME} COMPONENT ${group}_documents EXCLUDE_FROM_ALL)
  set(overrides ${package_files}/debian/lintian-overrides ${PACKAGE_OVERRIDES})
  execute_process(COMMAND cat ${overrides} OUTPUT_FILE ${made}/${PACKAGE_NAME}.overrides COMMAND_ERROR_IS_FATAL ANY)
  install(FILES ${made}/${PACKAGE_NAME}.overrides DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides RENAME ${PACKAGE_NAME}
    COMPONENT ${group}_documents EXCLUDE_FROM_ALL)
  list(APPEND PACKAGE_COMPONENTS ${group}_documents)
  foreach(component ${PACKAGE_COMPONENTS})
    string(TOUPPER ${component} COMPONENT)
    set(CPACK_COMPONENT_${COMPONENT}_GROUP ${group} PARENT_SCOPE)
  endforeach()
  set(CPACK_CLOZE_DEB_COMPONENTS ${CPACK_CLOZE_DEB_COMPONENTS} ${PACKAGE_COMPONENTS} PARENT_SCOPE)
  set(CPACK_DEBIAN_${GROUP}_PACKAGE_NAME ${PACKAGE_NAME} PARENT_SCOPE)
  set(CPACK_DEBIAN_${GROUP}_PACKAGE_SECTION ${PACKAGE_SECTION} PARENT_SCOPE)
  set(CPACK_DEBIAN_${GROUP}_DESCRIPTION "${PACKAGE_DESCRIPTION}" PARENT_SCOPE)
endfunction()

set(runtime_package libcloze-runtime${PROJECT_VERSION_MAJOR})
cloze_package(program NAME cloze SECTION science COMPONENTS program files service DESCRIPTION
"trains, fine-tunes and serves BERT
Plain text goes in, out comes a pre-trained, fine-tuned, scored and served
model, BERT or GroupBERT, which Hugging Face transformers opens as well. It
computes on x86-64 processors with AVX2 or more.
.
cloze-mpi adds training on many processes, cloze-hdf5 the reading of shards
in HDF5.")
cloze_package(runtime NAME ${runtime_package} SECTION libs COMPONENTS runtime
  OVERRIDES ${package_files}/debian/libcloze-runtime.lintian-overrides DESCRIPTION
"C library that answers with models of BERT
A model of BERT behind a few C functions. Texts go in, and what comes out
is answers, classes, tags, vectors, or logits.")
cloze_package(development NAME libcloze-runtime-dev SECTION libdevel COMPONENTS development DESCRIPTION
"C library that answers with models of BERT (development files)
Headers for C and C++, and the files by which CMake and pkg-config find
the library of ${runtime_package}.")
set(mpi_description
"trains BERT on many processes (plug-in of cloze)
The part of cloze that shares a training run among processes, on one
machine or several, by Open MPI.")
set(hdf5_description
"reads HDF5 shards of training data for BERT (plug-in of cloze)
The part of cloze that reads the training data of some other trainers of
BERT, which is stored in HDF5 files.")
foreach(plug_in ${plug_ins})
  cloze_package(${plug_in} NAME cloze-${plug_in} SECTION science COMPONENTS ${plug_in} DESCRIPTION "${${plug_in}_description}")
  string(TOUPPER ${plug_in} PLUG_IN)
  set(CPACK_DEBIAN_${PLUG_IN}_PACKAGE_DEPENDS "cloze (= ${PROJECT_VERSION}-1)")
endforeach()
install(FILES ${package_files}/debian/cloze-serve@.service DESTINATION lib/systemd/system COMPONENT service EXCLUDE_FROM_ALL)

# The archive's program: as it is built, since it then looks for libraries beside it, and those libraries.
configure_file(cmake/install_portable.cmake.in ${made}/install_portable.cmake.in @ONLY)
file(GENERATE OUTPUT ${made}/install_portable.cmake INPUT ${made}/install_portable.cmake.in)
install(SCRIPT ${made}/install_portable.cmake COMPONENT portable EXCLUDE_FROM_ALL)
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/cloze COMPONENT portable EXCLUDE_FROM_ALL)

set(CPACK_CLOZE_SECONDS ${seconds})
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/made)
set(CPACK_SYSTEM_NAME ${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/cmake/package_kinds.cmake)
set(CPACK_CLOZE_ARCHIVE_COMPONENTS files portable ${plug_ins})
set(CPACK_PACKAGE_CONTACT "${CLOZE_MAINTAINER}")
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SOURCE cloze)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
file(CONFIGURE OUTPUT ${made}/shlibs CONTENT
  "libcloze_runtime ${PROJECT_VERSION_MAJOR} ${runtime_package} (>= ${PROJECT_VERSION})\n")
configure_file(${package_files}/debian/libcloze-runtime.triggers ${made}/triggers COPYONLY)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${made}/shlibs ${made}/triggers)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${runtime_package} (= ${PROJECT_VERSION}-1)")
list(TRANSFORM plug_ins PREPEND cloze- OUTPUT_VARIABLE suggested)
list(JOIN suggested ", " CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_CONTROL_EXTRA ${package_files}/debian/prerm)
include(CPack)
