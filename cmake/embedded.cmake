# neutra_embed(TARGET FILE NAME): compiles a text file into TARGET as neutra::ROOM::embedded::NAME, ROOM being the first
# folder of the CMakeLists.txt that calls it.
function(neutra_embed target file name)
  # Two sources of one name would be one object file.
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${name}.cpp)
    message(FATAL_ERROR "neutra_embed: ${name}.cpp is a source already; give the text another name")
  endif()
  file(READ ${file} NEUTRA_EMBEDDED_TEXT)
  set(NEUTRA_EMBEDDED_NAME ${name})
  file(RELATIVE_PATH room ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  string(REGEX REPLACE "/.*" "" NEUTRA_EMBEDDED_ROOM ${room})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/embedded.cpp.in ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp @ONLY)
  target_sources(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
endfunction()
