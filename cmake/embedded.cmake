# neutra_embed(TARGET FILE NAME): compiles a text file into TARGET as neutra::ROOM::embedded::NAME, ROOM being the first
# folder of the CMakeLists.txt that calls it.
function(neutra_embed target file name)
  file(READ ${file} NEUTRA_EMBEDDED_TEXT)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  neutra_embed_as(${target} ${name} embedded.cpp.in)
endfunction()

# neutra_embed_folder(TARGET FOLDER NAME): compiles all JSON files of a folder into TARGET. neutra::ROOM::embedded::NAME(stem)
# is the text of the file `stem`.json; empty where there is none.
function(neutra_embed_folder target folder name)
  file(GLOB files CONFIGURE_DEPENDS ${folder}/*.json)
  foreach(file IN LISTS files)
    get_filename_component(stem ${file} NAME_WLE)
    file(READ ${file} text)
    string(APPEND NEUTRA_EMBEDDED_FILES "  if (stem == \"${stem}\") return R\"embedded(${text})embedded\";\n")
  endforeach()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})
  neutra_embed_as(${target} ${name} embedded_folder.cpp.in)
endfunction()

# The source NAME.cpp of TARGET, from a template of this folder.
function(neutra_embed_as target name template)
  # Two sources of one name would be one object file.
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${name}.cpp)
    message(FATAL_ERROR "neutra_embed: ${name}.cpp is a source already; give the text another name")
  endif()
  set(NEUTRA_EMBEDDED_NAME ${name})
  file(RELATIVE_PATH room ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  string(REGEX REPLACE "/.*" "" NEUTRA_EMBEDDED_ROOM ${room})
  configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/${template} ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp @ONLY)
  target_sources(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
endfunction()
