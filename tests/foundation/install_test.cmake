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

foreach(file LICENSE README.md docs/index.md)
  if(NOT EXISTS ${PREFIX}/share/doc/neutra/${file})
    message(FATAL_ERROR "${file} is not installed")
  endif()
endforeach()
run(${CMAKE_CURRENT_LIST_DIR}/../../scripts/check_links ${PREFIX}/share/doc/neutra)
