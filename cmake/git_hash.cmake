# Run at build time: writes OUTPUT, a header with the commit of SOURCE_DIR, when that has changed.
cmake_minimum_required(VERSION 3.25)
execute_process(
  COMMAND git -C ${SOURCE_DIR} describe --always --dirty --exclude=*
  OUTPUT_VARIABLE hash OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT hash)
  set(hash "no commit known")
  file(READ ${SOURCE_DIR}/cmake/archived_commit.txt archived)  # by `git archive`: its commit and time
  if(archived MATCHES "^([0-9a-f]+) ")
    set(hash ${CMAKE_MATCH_1})
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#pragma once\n#define CLOZE_GIT_HASH \"${hash}\"\n")
