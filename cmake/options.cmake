# Every build option, with its meaning. Presets (CMakePresets.json) and pyproject.toml set them; nothing else should.
option(CLOZE_TESTS "Build the unit and equivalence tests (needs libgtest-dev)" ON)
option(CLOZE_BENCHES "Build the benches" ON)
option(CLOZE_PROGRAM "Build the program and the examples, not only the rooms below and their tests" ON)
option(CLOZE_PYTHON "Build the Python module and lay out its wheel: pyproject.toml sets it; needs nanobind" OFF)
find_program(CLOZE_NVCC nvcc HINTS /usr/local/cuda/bin)
if(CLOZE_NVCC)
  set(has_nvcc ON)
endif()
option(CLOZE_CUDA "Build the device for CUDA cards, and bench/cuda_probe, which asks one; default: where nvcc is found" ${has_nvcc})
if(CLOZE_CUDA AND NOT CLOZE_NVCC)
  message(FATAL_ERROR "CLOZE_CUDA is on, but no nvcc was found: name it with -DCLOZE_NVCC=FILE, or leave CLOZE_CUDA off")
endif()
option(CLOZE_BASELINE_VECTORS "Vector kernels for the compile-time floor only: builds faster" OFF)
option(CLOZE_TOGETHER "Compile the files of a room ten at a time: builds from nothing in less time, after a change in more" ON)
set(CLOZE_SANITIZE "" CACHE STRING "Sanitizers for every target, as -fsanitize takes them: address,undefined or thread")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

# ccache refuses every file where it cannot write its folder, as without a home.
find_program(CLOZE_CCACHE ccache)
if(CLOZE_CCACHE)
  execute_process(COMMAND ${CLOZE_CCACHE} ${CMAKE_CXX_COMPILER} -x c++ -c /dev/null -o ${CMAKE_BINARY_DIR}/ccache_works.o
    RESULT_VARIABLE failed OUTPUT_QUIET ERROR_VARIABLE why ERROR_STRIP_TRAILING_WHITESPACE)
  if(failed)
    message(STATUS "ccache is not used: ${why}")
  endif()
endif()
if(CLOZE_CCACHE AND NOT failed)
  # Sloppiness: the settings that ccache requires for precompiled headers (cmake/targets.cmake).
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CLOZE_CCACHE})
endif()
