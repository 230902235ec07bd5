# Installs BUILD into PREFIX, changes a title there, and expects the installed command to show it: so it reads what was
# installed, not the source tree.

function(run)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${PREFIX} RESULT_VARIABLE result OUTPUT_VARIABLE output
                  ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "exit ${result} from ${ARGN}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${PREFIX})
file(MAKE_DIRECTORY ${PREFIX})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX})

set(fault ${PREFIX}/share/neutra/faults/D7.json)
file(READ ${fault} text)
string(REGEX REPLACE "\"title\": \"[^\"]*\"" "\"title\": \"as installed\"" text "${text}")
file(WRITE ${fault} "${text}")
run(${PREFIX}/bin/neutra faults)
if(NOT output MATCHES "D7[^\n]*as installed")
  message(FATAL_ERROR "the installed faults are not read:\n${output}")
endif()

# LibTorch and MPI are loaded when they are needed, and what is wrong is said.
execute_process(COMMAND ldd ${PREFIX}/bin/neutra OUTPUT_VARIABLE libraries)
if(NOT libraries MATCHES "libc\\.so" OR libraries MATCHES "libtorch|libc10|libmpi")
  message(FATAL_ERROR "the command is linked with what its modules bring:\n${libraries}")
endif()
run(${PREFIX}/bin/neutra train D7 --backend eager --replicas 1)
file(GLOB module ${PREFIX}/lib*/neutra/neutra_torch.so ${PREFIX}/lib/*/neutra/neutra_torch.so)
file(WRITE ${module} "")
foreach(arguments --version "train;D7;--backend;eager;--replicas;1")
  execute_process(COMMAND ${PREFIX}/bin/neutra ${arguments} RESULT_VARIABLE result OUTPUT_VARIABLE output
                  ERROR_VARIABLE error)
  if(NOT result EQUAL 1 OR NOT error MATCHES "LibTorch can't be loaded: .*neutra_torch.so")
    message(FATAL_ERROR "exit ${result} without its module: ${error}")
  endif()
endforeach()

file(GLOB modules ${PREFIX}/lib*/neutra/neutra_mpi_*.so ${PREFIX}/lib/*/neutra/neutra_mpi_*.so)
foreach(module IN LISTS modules)
  execute_process(COMMAND ldd ${module} OUTPUT_VARIABLE libraries)
  if(NOT libraries MATCHES "libc\\.so" OR libraries MATCHES "libmpi")
    message(FATAL_ERROR "${module} needs an MPI library of one name:\n${libraries}")
  endif()
endforeach()

foreach(file LICENSE README.md docs/index.md)
  if(NOT EXISTS ${PREFIX}/share/doc/neutra/${file})
    message(FATAL_ERROR "${file} is not installed")
  endif()
endforeach()
run(${CMAKE_CURRENT_LIST_DIR}/../../scripts/check_links ${PREFIX}/share/doc/neutra)
