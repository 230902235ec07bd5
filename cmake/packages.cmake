# Every package outside the project, looked up once.

find_package(nlohmann_json 3.11 REQUIRED)
find_package(Boost 1.74 REQUIRED COMPONENTS program_options)
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(Threads REQUIRED)

set(HDF5_PREFER_PARALLEL OFF)
find_package(HDF5 REQUIRED COMPONENTS C)
add_library(neutra_hdf5 INTERFACE)
target_include_directories(neutra_hdf5 SYSTEM INTERFACE ${HDF5_C_INCLUDE_DIRS})
target_link_libraries(neutra_hdf5 INTERFACE ${HDF5_C_LIBRARIES})
target_compile_definitions(neutra_hdf5 INTERFACE ${HDF5_C_DEFINITIONS})

find_package(ZLIB REQUIRED)
# Debian's libzip-config.cmake asks for libzip's programs, which are in another package.
find_library(LIBZIP_LIBRARY zip REQUIRED)
find_path(LIBZIP_INCLUDE_DIR zip.h REQUIRED)
add_library(neutra_libzip INTERFACE)
target_include_directories(neutra_libzip SYSTEM INTERFACE ${LIBZIP_INCLUDE_DIR})
target_link_libraries(neutra_libzip INTERFACE ${LIBZIP_LIBRARY})

# OpenCVConfig.cmake comes with all of OpenCV's modules only; two are needed.
find_library(OPENCV_ML_LIBRARY opencv_ml REQUIRED)
find_library(OPENCV_CORE_LIBRARY opencv_core REQUIRED)
find_path(OPENCV_INCLUDE_DIR opencv2/ml.hpp PATH_SUFFIXES opencv4 REQUIRED)
add_library(neutra_opencv INTERFACE)
target_include_directories(neutra_opencv SYSTEM INTERFACE ${OPENCV_INCLUDE_DIR})
target_link_libraries(neutra_opencv INTERFACE ${OPENCV_ML_LIBRARY} ${OPENCV_CORE_LIBRARY})

find_library(XXHASH_LIBRARY xxhash REQUIRED)
find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)

if(NEUTRA_WITH_TORCH)
  find_package(Torch 1.13 REQUIRED)
  # It names the C++ ABI that compilers take anyway. Said again, it would keep files from the shared precompiled header.
  string(REPLACE "-D_GLIBCXX_USE_CXX11_ABI=1" "" TORCH_CXX_FLAGS "${TORCH_CXX_FLAGS}")
  set_property(TARGET torch PROPERTY INTERFACE_COMPILE_OPTIONS ${TORCH_CXX_FLAGS})
  # Debian's dnnl-config.cmake asks for OpenCL's development files, which the CPU engine doesn't need.
  find_library(DNNL_LIBRARY dnnl REQUIRED)
endif()

find_package(MPI QUIET COMPONENTS C)
option(NEUTRA_WITH_MPI "Spread a search over the ranks of an MPI job; default: where an MPI library is" ${MPI_C_FOUND})
if(NEUTRA_WITH_MPI)
  find_package(MPI REQUIRED COMPONENTS C)
endif()

if(NEUTRA_BUILD_TESTS)
  find_package(GTest REQUIRED)
  find_path(VALIJSON_INCLUDE_DIR valijson/validator.hpp REQUIRED)
endif()
if(NEUTRA_BUILD_TESTS AND NEUTRA_BUILD_BENCHMARKS AND NEUTRA_WITH_TORCH)
  find_package(benchmark REQUIRED)
endif()
