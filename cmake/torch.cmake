# LibTorch: Debian's, or that of pip's torch, named by
#   -DCMAKE_PREFIX_PATH=$(python3 -c 'import torch; print(torch.utils.cmake_prefix_path)')
# Its own TorchConfig.cmake asks for all that it was built with: CUDA, protobuf, glog. neutra needs two libraries and the headers.

set(torch_folders "")
foreach(prefix ${CMAKE_PREFIX_PATH})
  list(APPEND torch_folders ${prefix}/../..)
endforeach()
find_library(TORCH_CPU_LIBRARY torch_cpu HINTS ${torch_folders} PATH_SUFFIXES lib REQUIRED)
get_filename_component(torch_folder ${TORCH_CPU_LIBRARY} DIRECTORY)
find_library(TORCH_C10_LIBRARY c10 HINTS ${torch_folder} NO_DEFAULT_PATH REQUIRED)
find_path(TORCH_INCLUDE_DIR ATen/ATen.h HINTS ${torch_folder}/../include ${torch_folder}/../../include REQUIRED)

set(torch_api ${TORCH_INCLUDE_DIR}/torch/csrc/api/include)
set(torch_version "")
foreach(header ${torch_api}/torch/version.h ${TORCH_INCLUDE_DIR}/torch/headeronly/version.h)
  if(NOT torch_version AND EXISTS ${header})
    file(STRINGS ${header} lines REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH) +[0-9]+")
    string(REGEX MATCHALL "[0-9]+" torch_version "${lines}")
    list(JOIN torch_version "." torch_version)
  endif()
endforeach()
if(torch_version VERSION_LESS 1.13)
  message(FATAL_ERROR "${TORCH_CPU_LIBRARY}: found LibTorch ${torch_version}; allowed: 1.13 or newer")
endif()
execute_process(COMMAND ${CMAKE_NM} -D --defined-only ${TORCH_CPU_LIBRARY} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
if(NOT symbols MATCHES "_ZN2at11show_configB5cxx11Ev")
  message(FATAL_ERROR "${TORCH_CPU_LIBRARY}: found LibTorch ${torch_version} with the C++ classes of before GCC 5; "
                      "allowed of the Python Package Index: torch 2.7 or newer")
endif()

# How the command finds it (training/torch_loader.cpp): by its own name in a folder, or in those of the system.
execute_process(COMMAND ${CMAKE_READELF} -d ${TORCH_CPU_LIBRARY} OUTPUT_VARIABLE dynamic COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCH "SONAME[^[]*\\[([^]]*)\\]" unused "${dynamic}")
set(torch_name ${CMAKE_MATCH_1})
if(torch_folder IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)
  set(torch_folder "")
endif()
string(REGEX REPLACE "[.][0-9]+$" "" torch_minor ${torch_version})
if(torch_folder STREQUAL "")
  set(torch_hint "install LibTorch ${torch_minor} (Debian: apt-get install libtorch${torch_minor})")
else()
  set(torch_hint "pip install 'torch==${torch_minor}.*' brings it (name its folder torch/lib in NEUTRA_TORCH)")
endif()
set(NEUTRA_TORCH_VERSION "${torch_version}" CACHE INTERNAL "Of the LibTorch that the eager back end is built for")  # scripts/wheel reads it
set(NEUTRA_TORCH_FOLDER "${torch_folder}" CACHE STRING "Where the command looks for LibTorch; empty: where the system does")
# No semicolons in it: it becomes a macro.
set(NEUTRA_TORCH_HINT "" CACHE STRING "What the command says where LibTorch is missing or doesn't fit; empty: by its version")
if(NEUTRA_TORCH_HINT)
  set(torch_hint "${NEUTRA_TORCH_HINT}")
endif()

add_library(neutra_libtorch INTERFACE)
target_include_directories(neutra_libtorch SYSTEM INTERFACE ${torch_api} ${TORCH_INCLUDE_DIR})
target_link_libraries(neutra_libtorch INTERFACE ${TORCH_CPU_LIBRARY} ${TORCH_C10_LIBRARY})
# Libraries that LibTorch needs itself, such as CUDA's, may be missing where neutra is built.
target_link_options(neutra_libtorch INTERFACE LINKER:--allow-shlib-undefined)
