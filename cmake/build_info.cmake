# neutra::build_info: version, git commit and compiler of this build (cli/build_info.h).
#
# The commit is read at build time, not when CMake is run, and written to a header that changes only when the
# commit does and that few small files include: cli/build_info.cpp, and those of base/module_build.h.

set(build_info_directory ${PROJECT_BINARY_DIR}/generated)
set(build_info_header ${build_info_directory}/neutra/build_info.h)
add_custom_target(neutra_build_info_header
  COMMAND ${CMAKE_COMMAND}
          -D SOURCE_DIR=${PROJECT_SOURCE_DIR}
          -D HEADER=${build_info_header}
          -D VERSION=${PROJECT_VERSION}
          -D "COMPILER=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}"
          -D BUILD_TYPE=${CMAKE_BUILD_TYPE}
          -D SANITIZERS=${NEUTRA_SANITIZE}
          -P ${PROJECT_SOURCE_DIR}/cmake/write_build_info.cmake
  BYPRODUCTS ${build_info_header}
  COMMENT "Reading the git commit"
  VERBATIM)

add_library(neutra_build_info STATIC cli/build_info.cpp)
add_library(neutra::build_info ALIAS neutra_build_info)
target_link_libraries(neutra_build_info PUBLIC neutra::settings)
target_include_directories(neutra_build_info PRIVATE ${build_info_directory})
add_dependencies(neutra_build_info neutra_build_info_header)
