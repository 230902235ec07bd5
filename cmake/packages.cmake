# Every package outside the project, looked up once.

# Debian's shared OpenCV brings X11, OpenGL and LAPACK with it, its shared HDF5 curl, Kerberos and LDAP: sixty libraries that
# neutra never calls. From a static library only what is called gets in.
set(all_static TRUE)
foreach(name opencv_ml opencv_core hdf5_serial sz aec xxhash)
  find_library(NEUTRA_STATIC_${name} lib${name}.a)
  mark_as_advanced(NEUTRA_STATIC_${name})
  if(NOT NEUTRA_STATIC_${name} OR NEUTRA_SANITIZE)
    set(all_static FALSE)
  endif()
endforeach()
option(NEUTRA_STATIC_LIBRARIES "Link OpenCV, HDF5 and xxHash statically; default: where all of them are there" ${all_static})

find_package(nlohmann_json 3.11 REQUIRED)
find_package(Boost 1.74 REQUIRED COMPONENTS program_options)
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(Threads REQUIRED)

find_package(ZLIB REQUIRED)
# CMake's own module asks the compiler wrapper h5cc, which only knows the system's folders.
find_path(HDF5_INCLUDE_DIR hdf5.h PATH_SUFFIXES hdf5/serial REQUIRED)
add_library(neutra_hdf5 INTERFACE)
target_include_directories(neutra_hdf5 SYSTEM INTERFACE ${HDF5_INCLUDE_DIR})
if(NEUTRA_STATIC_LIBRARIES)
  target_link_libraries(neutra_hdf5 INTERFACE ${NEUTRA_STATIC_hdf5_serial} ${NEUTRA_STATIC_sz} ${NEUTRA_STATIC_aec} ZLIB::ZLIB)
  # What a program exports is kept, so they export nothing.
  target_link_options(neutra_hdf5 INTERFACE LINKER:--gc-sections LINKER:--exclude-libs,libopencv_ml.a:libopencv_core.a
                      LINKER:--exclude-libs,libhdf5_serial.a:libsz.a:libaec.a:libxxhash.a)
else()
  find_library(HDF5_LIBRARY NAMES hdf5_serial hdf5 REQUIRED)
  target_link_libraries(neutra_hdf5 INTERFACE ${HDF5_LIBRARY})
endif()

# Debian's libzip-config.cmake asks for libzip's programs, which are in another package.
find_library(LIBZIP_LIBRARY zip REQUIRED)
find_path(LIBZIP_INCLUDE_DIR zip.h REQUIRED)
add_library(neutra_libzip INTERFACE)
target_include_directories(neutra_libzip SYSTEM INTERFACE ${LIBZIP_INCLUDE_DIR})
target_link_libraries(neutra_libzip INTERFACE ${LIBZIP_LIBRARY})

# OpenCVConfig.cmake comes with all of OpenCV's modules only; two are needed.
find_path(OPENCV_INCLUDE_DIR opencv2/ml.hpp PATH_SUFFIXES opencv4 REQUIRED)
add_library(neutra_opencv INTERFACE)
target_include_directories(neutra_opencv SYSTEM INTERFACE ${OPENCV_INCLUDE_DIR})
if(NEUTRA_STATIC_LIBRARIES)
  find_library(TBB_LIBRARY tbb REQUIRED)  # its loops run in parallel with it
  # A copy that does without OpenGL, LAPACK and BLAS. Parts that neutra never calls refer to them: by other names, which are
  # nowhere, since those of LAPACK come back with LibTorch.
  set(opencv_core ${PROJECT_BINARY_DIR}/libopencv_core.a)
  set(renamed "")
  foreach(name glXGetProcAddressARB sgesv_ dgesv_ sposv_ dposv_ sgels_ dgels_ sgesdd_ dgesdd_ sgeqrf_ dgeqrf_ sgetrf_ dgetrf_
               spotrf_ dpotrf_ cblas_sgemm cblas_dgemm cblas_cgemm cblas_zgemm)
    list(APPEND renamed --redefine-sym=${name}=unused_${name} --weaken-symbol=unused_${name})
  endforeach()
  if(${NEUTRA_STATIC_opencv_core} IS_NEWER_THAN ${opencv_core} OR ${CMAKE_CURRENT_LIST_FILE} IS_NEWER_THAN ${opencv_core})
    execute_process(COMMAND ${CMAKE_OBJCOPY} ${renamed} ${NEUTRA_STATIC_opencv_core} ${opencv_core} COMMAND_ERROR_IS_FATAL ANY)
  endif()
  target_link_libraries(neutra_opencv INTERFACE ${NEUTRA_STATIC_opencv_ml} ${opencv_core} ${TBB_LIBRARY})
else()
  find_library(OPENCV_ML_LIBRARY opencv_ml REQUIRED)
  find_library(OPENCV_CORE_LIBRARY opencv_core REQUIRED)
  target_link_libraries(neutra_opencv INTERFACE ${OPENCV_ML_LIBRARY} ${OPENCV_CORE_LIBRARY})
endif()

if(NEUTRA_STATIC_LIBRARIES)
  set(XXHASH_LIBRARY ${NEUTRA_STATIC_xxhash})
else()
  find_library(XXHASH_LIBRARY xxhash REQUIRED)
endif()
find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)

# Debian's dnnl-config.cmake asks for OpenCL's development files, which the CPU engine doesn't need. The headers are those
# that lie beside the library: pip's torch has some of another version.
find_library(DNNL_LIBRARY dnnl REQUIRED)
get_filename_component(dnnl_folder ${DNNL_LIBRARY} DIRECTORY)
find_path(DNNL_INCLUDE_DIR dnnl.h PATHS ${dnnl_folder}/../include ${dnnl_folder}/../../include NO_DEFAULT_PATH REQUIRED)
file(STRINGS ${DNNL_INCLUDE_DIR}/oneapi/dnnl/dnnl_version.h found REGEX "define DNNL_VERSION_MAJOR +2")
if(NOT found)
  message(FATAL_ERROR "${DNNL_LIBRARY}: found a oneDNN whose headers in ${DNNL_INCLUDE_DIR} are not of version 2; allowed: oneDNN 2")
endif()
add_library(neutra_dnnl INTERFACE)
target_include_directories(neutra_dnnl SYSTEM INTERFACE ${DNNL_INCLUDE_DIR})
target_link_libraries(neutra_dnnl INTERFACE ${DNNL_LIBRARY})

if(NEUTRA_WITH_TORCH)
  include(cmake/torch.cmake)
else()
  set(torch_version none)
endif()

# The headers of each MPI family, and its mpirun for the tests: of the MPI whose mpicc is found (-DMPI_HOME=FOLDER names
# one), and where distributions put the others. Libraries are found at run time (search/mpi_module.h).
find_package(MPI QUIET COMPONENTS C)
function(neutra_find_mpi family macro)
  set(own "")
  set(own_mpirun "")
  if(MPI_C_FOUND AND EXISTS "${MPI_C_HEADER_DIR}/mpi.h")
    file(STRINGS ${MPI_C_HEADER_DIR}/mpi.h found REGEX "define +${macro}" LIMIT_COUNT 1)
    if(found)
      set(own ${MPI_C_HEADER_DIR})
      set(own_mpirun ${MPIEXEC_EXECUTABLE})
    endif()
  endif()
  string(TOLOWER ${family} name)
  find_path(NEUTRA_${family}_INCLUDE_DIR mpi.h DOC "mpi.h of ${family}" NO_DEFAULT_PATH
    PATHS ${own} /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/${name}/include /usr/include/${CMAKE_LIBRARY_ARCHITECTURE}/${name}
          /usr/include/${name}-${CMAKE_SYSTEM_PROCESSOR})
  find_program(NEUTRA_${family}_MPIRUN NAMES mpirun.${name} ${own_mpirun} DOC "mpirun of ${family}, for tests")
  if(NEUTRA_${family}_INCLUDE_DIR)
    list(APPEND NEUTRA_MPI_FAMILIES ${family})
    set(NEUTRA_MPI_FAMILIES ${NEUTRA_MPI_FAMILIES} PARENT_SCOPE)
  endif()
endfunction()
set(NEUTRA_MPI_FAMILIES "")
neutra_find_mpi(OPENMPI OPEN_MPI)
neutra_find_mpi(MPICH "(MPICH_NAME|I_MPI_VERSION)")
set(found OFF)
if(NEUTRA_MPI_FAMILIES)
  set(found ON)
endif()
option(NEUTRA_WITH_MPI "Modules for searches over the ranks of an MPI job; default: where an MPI's headers are" ${found})
if(NOT NEUTRA_WITH_MPI)
  set(NEUTRA_MPI_FAMILIES "")
elseif(NOT NEUTRA_MPI_FAMILIES)
  message(FATAL_ERROR "NEUTRA_WITH_MPI: no mpi.h of Open MPI or MPICH is found; -DMPI_HOME=FOLDER tells where it is")
endif()

if(NEUTRA_BUILD_TESTS)
  find_package(GTest REQUIRED)
  find_path(VALIJSON_INCLUDE_DIR valijson/validator.hpp REQUIRED)
endif()
if(NEUTRA_BUILD_TESTS AND NEUTRA_BUILD_BENCHMARKS AND NEUTRA_WITH_TORCH)
  find_package(benchmark REQUIRED)
endif()
