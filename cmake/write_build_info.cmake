# Run at build time by cmake/build_info.cmake: writes HEADER when its content changes.

set(GIT_COMMIT unknown)
# Only the project's own repository counts, not one that a source archive happens to be unpacked in.
if(EXISTS ${SOURCE_DIR}/.git)
  find_program(GIT_PROGRAM git)
  if(GIT_PROGRAM)
    execute_process(
      COMMAND ${GIT_PROGRAM} -c safe.directory=${SOURCE_DIR} describe --always --dirty --abbrev=40 --exclude=*
      WORKING_DIRECTORY ${SOURCE_DIR}
      OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE result ERROR_QUIET)
    if(result EQUAL 0 AND commit)
      set(GIT_COMMIT ${commit})
    endif()
  endif()
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/build_info.h.in ${HEADER} @ONLY)
