# Flags that every target of ours takes. AVX2 is the floor; wider units are found at run time.
add_library(cloze_flags INTERFACE)
target_compile_features(cloze_flags INTERFACE cxx_std_20)
target_compile_options(cloze_flags INTERFACE -Wall -Wextra -Wno-missing-field-initializers)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  target_compile_options(cloze_flags INTERFACE -march=x86-64-v3)
endif()
target_include_directories(cloze_flags INTERFACE ${PROJECT_SOURCE_DIR}/src)
if(CLOZE_SANITIZE)
  # Left out of "undefined": what AddressSanitizer meets as well, and checks of every pointer's
  # alignment and arithmetic, which take two fifths of the time to compile. Any finding ends the program: otherwise
  # UndefinedBehaviorSanitizer would only print it, and the test would pass.
  target_compile_options(cloze_flags INTERFACE -fsanitize=${CLOZE_SANITIZE} -fno-sanitize-recover=all
    -fno-omit-frame-pointer -fno-sanitize=null,vptr,object-size,nonnull-attribute,returns-nonnull-attribute,pointer-overflow,alignment)
  target_link_options(cloze_flags INTERFACE -fsanitize=${CLOZE_SANITIZE})
endif()

# What nearly every room includes is compiled once, which takes a quarter off the time of a build. GCC uses precompiled headers only where
# the flags are the same, so all rooms use fmt's. Further arguments are headers that a room precompiles for itself.
set(CLOZE_ROOM_HEADERS <fmt/format.h> <algorithm> <filesystem> <functional> <map> <memory> <optional> <span> <string>
  <string_view> <vector>)
function(cloze_compile_as_room target)
  target_link_libraries(${target} PRIVATE fmt::fmt)
  if(ARGN)
    target_precompile_headers(${target} PRIVATE ${CLOZE_ROOM_HEADERS} ${ARGN})
    return()
  endif()
  if(NOT TARGET cloze_room_headers)
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/room_headers.cc CONTENT "")
    add_library(cloze_room_headers STATIC ${PROJECT_BINARY_DIR}/room_headers.cc)
    target_link_libraries(cloze_room_headers PRIVATE cloze_flags fmt::fmt)
    set_target_properties(cloze_room_headers PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_precompile_headers(cloze_room_headers PRIVATE ${CLOZE_ROOM_HEADERS})
  endif()
  target_precompile_headers(${target} REUSE_FROM cloze_room_headers)
endfunction()

# Compiles the files of a target ten at a time, as one, since their headers cost more than what is in them. Names in the
# anonymous namespaces of its files must differ; GCC says "redefinition" where they do not.
function(cloze_compile_together target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${CLOZE_TOGETHER} UNITY_BUILD_BATCH_SIZE 10)
endfunction()

# cloze_room(NAME SOURCES a.cc b.cc LINKS cloze_base fmt::fmt [PRECOMPILES <a.h>] [TOGETHER])
# A room's library, called cloze_NAME. Without sources it is header-only. TOGETHER: for rooms of many files that use no name
# twice; a program that links one of ten such files links them all, and the libraries that they need.
function(cloze_room name)
  cmake_parse_arguments(ROOM "TOGETHER" "" "SOURCES;LINKS;PRIVATE_LINKS;PRECOMPILES" ${ARGN})
  if(ROOM_SOURCES)
    add_library(cloze_${name} STATIC ${ROOM_SOURCES})
    # libcloze_runtime is made of the same rooms as the program.
    set_target_properties(cloze_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_link_libraries(cloze_${name} PUBLIC cloze_flags ${ROOM_LINKS} PRIVATE ${ROOM_PRIVATE_LINKS})
    cloze_compile_as_room(cloze_${name} ${ROOM_PRECOMPILES})
    if(ROOM_TOGETHER)
      cloze_compile_together(cloze_${name})
    endif()
  else()
    add_library(cloze_${name} INTERFACE)
    target_link_libraries(cloze_${name} INTERFACE cloze_flags ${ROOM_LINKS})
  endif()
endfunction()

# cloze_plug_in(NAME SERVES room SOURCES a.cc LINKS ...)
# cloze_NAME.so in lib/cloze/plug_ins: a part that its room opens at run time (src/platform/plug_in.h), so that the program needs no library
# that only this part needs. It is built with the room, and has its own copy of what it links. Each is a component to install.
function(cloze_plug_in name)
  cmake_parse_arguments(PLUG_IN "" "SERVES" "SOURCES;LINKS" ${ARGN})
  set(target cloze_${name}_plug_in)
  add_library(${target} MODULE ${PLUG_IN_SOURCES})
  set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME cloze_${name} CXX_VISIBILITY_PRESET hidden
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/cloze/plug_ins)
  target_link_libraries(${target} PRIVATE cloze_flags fmt::fmt ${PLUG_IN_LINKS})
  target_link_options(${target} PRIVATE LINKER:--as-needed LINKER:--exclude-libs,ALL)
  add_dependencies(cloze_${PLUG_IN_SERVES} ${target})
  install(TARGETS ${target} DESTINATION lib/cloze/plug_ins COMPONENT ${name})
  set_property(GLOBAL APPEND PROPERTY CLOZE_PLUG_INS ${name})
endfunction()

# cloze_room_sources(SOURCES TESTS [FOLDER ...])
# Puts the sources of a room's folder, and of folders in it, into SOURCES, their unit tests into TESTS: for rooms that many
# changes add a file to. The next build notices what has come or gone.
function(cloze_room_sources sources tests)
  set(patterns *.cc)
  foreach(folder ${ARGN})
    list(APPEND patterns ${folder}/*.cc)
  endforeach()
  file(GLOB found RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS ${patterns})
  set(found_tests ${found})
  list(FILTER found EXCLUDE REGEX "_test\\.cc$")
  list(FILTER found_tests INCLUDE REGEX "_test\\.cc$")
  set(${sources} ${found} PARENT_SCOPE)
  set(${tests} ${found_tests} PARENT_SCOPE)
endfunction()

# cloze_take_libraries_beside(PROGRAM ...)
# Programs that scripts/gpu_check takes to another machine, with their libraries in ../lib. RPATH, unlike RUNPATH, also holds
# for what these libraries load. It is that of the build: installed programs have none.
function(cloze_take_libraries_beside)
  foreach(program ${ARGN})
    set_target_properties(${program} PROPERTIES BUILD_RPATH "\$ORIGIN/../lib")
    target_link_options(${program} PRIVATE LINKER:--disable-new-dtags)
  endforeach()
endfunction()

# cloze_embed_text(ROOM page.html kPageHtml)
# Puts the text of a file beside the room's sources into the program: as kPageHtml of "ROOM/page_html.h".
function(cloze_embed_text room input name)
  string(REPLACE "." "_" header ${input})
  set(output ${CMAKE_CURRENT_BINARY_DIR}/generated/${room}/${header}.h)
  set(script ${PROJECT_SOURCE_DIR}/cmake/embed_text.cmake)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -D INPUT=${CMAKE_CURRENT_SOURCE_DIR}/${input} -D OUTPUT=${output} -D NAME=${name} -P ${script}
    DEPENDS ${input} ${script})
  target_sources(cloze_${room} PRIVATE ${output})
  target_include_directories(cloze_${room} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/generated)
endfunction()

# How tests are compiled. What every test includes is compiled once. Further arguments are headers that a program
# precompiles for itself.
set(CLOZE_TEST_HEADERS <gtest/gtest.h> <fmt/format.h> <filesystem> <functional> <map> <string> <vector>)
function(cloze_compile_as_test target)
  if(NOT TARGET cloze_test_headers)
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/test_headers.cc CONTENT "")
    add_library(cloze_test_headers STATIC ${PROJECT_BINARY_DIR}/test_headers.cc)
    target_link_libraries(cloze_test_headers PRIVATE cloze_flags GTest::gtest fmt::fmt)
    target_compile_definitions(cloze_test_headers PRIVATE CLOZE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    target_compile_options(cloze_test_headers PRIVATE -O1 -Wno-array-bounds -Wno-stringop-overflow)
    target_precompile_headers(cloze_test_headers PRIVATE ${CLOZE_TEST_HEADERS})
  endif()
  target_compile_definitions(${target} PRIVATE CLOZE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  # What is tested is optimised; the tests themselves need not be, and compile faster.
  # GCC 12 warns of the bounds of std::string where nothing is wrong (its bug 105329).
  target_compile_options(${target} PRIVATE -O1 -Wno-array-bounds -Wno-stringop-overflow)
  if(ARGN)
    target_precompile_headers(${target} PRIVATE ${CLOZE_TEST_HEADERS} ${ARGN})
  else()
    target_precompile_headers(${target} REUSE_FROM cloze_test_headers)
  endif()
endfunction()

# cloze_add_gtest(PROGRAM LABELS label [NAME name] [SHARDS n] [FILTER filter] [ENVIRONMENT A=b])
# The tests of a program that FILTER takes, as one entry of ctest called NAME (PROGRAM without _test), or shared out to n
# entries, NAME.0 and so on, that may run at the same time. Starting a program for each case would take longer than the
# cases do. Each entry has a folder for its temporary files, and leaves the result of each case in gtest/NAME.xml, which
# scripts/count_tests reads.
function(cloze_add_gtest program)
  cmake_parse_arguments(TEST "" "NAME;SHARDS;FILTER" "LABELS;ENVIRONMENT" ${ARGN})
  if(NOT TEST_NAME)
    string(REGEX REPLACE "_test$" "" TEST_NAME ${program})
  endif()
  if(NOT TEST_SHARDS)
    set(TEST_SHARDS 1)
  endif()
  math(EXPR last "${TEST_SHARDS} - 1")
  foreach(shard RANGE ${last})
    set(name ${TEST_NAME})
    if(TEST_SHARDS GREATER 1)
      set(name ${TEST_NAME}.${shard})
    endif()
    set(temporary ${PROJECT_BINARY_DIR}/tmp/${name})
    file(MAKE_DIRECTORY ${temporary})
    add_test(NAME ${name} COMMAND ${program} --gtest_brief=1 --gtest_output=xml:${PROJECT_BINARY_DIR}/gtest/${name}.xml)
    set_tests_properties(${name} PROPERTIES LABELS "${TEST_LABELS}"
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${TEST_SHARDS};GTEST_SHARD_INDEX=${shard};TEST_TMPDIR=${temporary}/;${TEST_ENVIRONMENT}")
    if(TEST_FILTER)
      set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT "GTEST_FILTER=${TEST_FILTER}")
    endif()
  endforeach()
endfunction()

# cloze_room_test(NAME SOURCES a_test.cc LINKS ... [ALONE filter] [PRECOMPILES <a.h>] [SLOW] [TOGETHER])
# The room's unit tests, one program per room, called NAME_test. Tests that ALONE takes measure their own process, in which
# nothing else may have run before: they are an entry of their own, NAME_alone.
# TOGETHER: as cloze_compile_together.
# All have the label `fast`, unless they are SLOW: `ctest --preset release -L fast` ends in a minute on two quiet cores.
function(cloze_room_test name)
  if(NOT CLOZE_TESTS)
    return()
  endif()
  cmake_parse_arguments(ROOM "SLOW;TOGETHER" "ALONE" "SOURCES;LINKS;PRECOMPILES" ${ARGN})
  set(labels ${name})
  if(NOT ROOM_SLOW)
    list(APPEND labels fast)
  endif()
  add_executable(${name}_test ${ROOM_SOURCES})
  target_link_libraries(${name}_test PRIVATE ${ROOM_LINKS} GTest::gtest GTest::gtest_main)
  cloze_compile_as_test(${name}_test ${ROOM_PRECOMPILES})
  if(ROOM_TOGETHER)
    cloze_compile_together(${name}_test)
  endif()
  if(ROOM_ALONE)
    cloze_add_gtest(${name}_test NAME ${name}_alone LABELS ${labels} FILTER ${ROOM_ALONE})
    set(others FILTER -${ROOM_ALONE})
  endif()
  cloze_add_gtest(${name}_test LABELS ${labels} ${others})
endfunction()
