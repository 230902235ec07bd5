# Compiler settings shared by every target, through the interface library neutra::settings.

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  # pch_defines and time_macros: what ccache needs to cache files that use a precompiled header. CCACHE_BASEDIR: another clone
  # of the project finds what this one compiled.
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}
    ${CCACHE_PROGRAM})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()

add_library(neutra_settings INTERFACE)
add_library(neutra::settings ALIAS neutra_settings)
target_include_directories(neutra_settings INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(neutra_settings INTERFACE -Wall -Wextra)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 12)
  # GCC bugs 105329 and 105651: since GCC 12, false warnings about std::string with -O2 and above.
  target_compile_options(neutra_settings INTERFACE -Wno-restrict -Wno-stringop-overflow -Wno-array-bounds)
endif()
if(NEUTRA_WERROR)
  target_compile_options(neutra_settings INTERFACE -Werror)
endif()
if(NEUTRA_SANITIZE)
  target_compile_options(neutra_settings INTERFACE -fsanitize=${NEUTRA_SANITIZE} -fno-omit-frame-pointer)
  if(NEUTRA_SANITIZE MATCHES undefined AND CMAKE_CXX_COMPILER_ID MATCHES Clang)
    target_compile_options(neutra_settings INTERFACE -fno-sanitize=vptr)  # it asks the system for a pipe at each look
  endif()
  target_link_options(neutra_settings INTERFACE -fsanitize=${NEUTRA_SANITIZE})
  # Run-time options of the sanitizers, compiled into every program so that they hold however it is started.
  target_sources(neutra_settings INTERFACE
    $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:${PROJECT_SOURCE_DIR}/cmake/sanitizer_options.cpp>)
  # The sanitizers of clang look for a program of exactly this name; Debian's has a number behind it.
  find_program(SYMBOLIZER_PROGRAM NAMES llvm-symbolizer llvm-symbolizer-14)
  if(SYMBOLIZER_PROGRAM)
    target_compile_definitions(neutra_settings INTERFACE NEUTRA_SYMBOLIZER="${SYMBOLIZER_PROGRAM}")
  endif()
endif()
if(NEUTRA_BUILD_FUZZERS)
  target_compile_options(neutra_settings INTERFACE -fsanitize=fuzzer-no-link)
endif()

# neutra_room(NAME [FEW_COMPUTATIONS] SOURCES... LINK LIBS...): the library of one room, neutra::NAME. One that computes little
# itself is built in three quarters of the time with -O1.
function(neutra_room name)
  cmake_parse_arguments(ROOM "FEW_COMPUTATIONS" "" "SOURCES;LINK" ${ARGN})
  add_library(neutra_${name} STATIC ${ROOM_SOURCES})
  add_library(neutra::${name} ALIAS neutra_${name})
  target_link_libraries(neutra_${name} PUBLIC neutra::settings ${ROOM_LINK})
  # Most files need it, and it takes as long to read as they take to compile.
  if(name STREQUAL base)
    target_precompile_headers(neutra_base PRIVATE <nlohmann/json.hpp>)
  else()
    target_precompile_headers(neutra_${name} REUSE_FROM neutra_base)
  endif()
  if(ROOM_FEW_COMPUTATIONS)
    target_compile_options(neutra_${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
endfunction()
