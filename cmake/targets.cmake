# Flags that every target of ours takes. AVX2 is the floor; wider units are found at run time.
add_library(cloze_flags INTERFACE)
target_compile_features(cloze_flags INTERFACE cxx_std_20)
target_compile_options(cloze_flags INTERFACE -Wall -Wextra -Wno-missing-field-initializers)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  target_compile_options(cloze_flags INTERFACE -march=x86-64-v3)
endif()
target_include_directories(cloze_flags INTERFACE ${PROJECT_SOURCE_DIR}/src)
if(CLOZE_SANITIZE)
  # Left out of "undefined": what AddressSanitizer meets as well and doubles the time to compile.
  target_compile_options(cloze_flags INTERFACE -fsanitize=${CLOZE_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize=null,vptr,object-size,nonnull-attribute,returns-nonnull-attribute)
  target_link_options(cloze_flags INTERFACE -fsanitize=${CLOZE_SANITIZE})
endif()

# cloze_room(NAME SOURCES a.cc b.cc LINKS cloze_base fmt::fmt)
# A room's library, called cloze_NAME. Without sources it is header-only.
function(cloze_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;LINKS;PRIVATE_LINKS" ${ARGN})
  if(ROOM_SOURCES)
    add_library(cloze_${name} STATIC ${ROOM_SOURCES})
    target_link_libraries(cloze_${name} PUBLIC cloze_flags ${ROOM_LINKS} PRIVATE ${ROOM_PRIVATE_LINKS})
  else()
    add_library(cloze_${name} INTERFACE)
    target_link_libraries(cloze_${name} INTERFACE cloze_flags ${ROOM_LINKS})
  endif()
endfunction()

# cloze_room_test(NAME SOURCES a_test.cc LINKS ...)
# The room's unit tests, one program per room, called NAME_test. Each test case is a ctest case.
function(cloze_room_test name)
  if(NOT CLOZE_TESTS)
    return()
  endif()
  cmake_parse_arguments(ROOM "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(${name}_test ${ROOM_SOURCES})
  target_link_libraries(${name}_test PRIVATE ${ROOM_LINKS} GTest::gtest GTest::gtest_main)
  target_compile_definitions(${name}_test PRIVATE CLOZE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  # What is tested is optimised; the tests themselves need not be, and compile sooner.
  target_compile_options(${name}_test PRIVATE -O1)
  gtest_discover_tests(${name}_test DISCOVERY_MODE PRE_TEST
    PROPERTIES LABELS ${name} RESOURCE_LOCK ${name})  # cases of a room may share scratch folders
endfunction()
