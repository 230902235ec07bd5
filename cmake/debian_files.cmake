# Run by cpack on the files of the packages before it packs them: what Debian wants beside and of them.

find_program(GZIP_PROGRAM gzip REQUIRED)
# compress(FILE...): each as FILE.gz, the same bytes whenever it is made.
function(compress)
  if(ARGN)
    execute_process(COMMAND ${GZIP_PROGRAM} -9n ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
  endif()
endfunction()

# libraries_of(FOLDER): the packages of the libraries that the command and its modules are linked with become what neutra depends on;
# of LibTorch's module, what it suggests: it drags hundreds of megabytes, and the command says when it is missing.
function(libraries_of folder)
  find_program(SHLIBDEPS_PROGRAM dpkg-shlibdeps REQUIRED)
  file(GLOB_RECURSE modules RELATIVE ${folder} ${folder}/usr/lib/*/neutra_*.so)
  set(suggested ${modules})
  list(FILTER suggested INCLUDE REGEX "/neutra_torch[.]so$")
  list(FILTER modules EXCLUDE REGEX "/neutra_torch[.]so$")
  list(TRANSFORM modules PREPEND -e)
  if(suggested)
    list(TRANSFORM suggested PREPEND -e)
    list(PREPEND suggested -dSuggests)
  endif()
  file(WRITE ${folder}/debian/control "")  # it looks for one
  execute_process(COMMAND ${SHLIBDEPS_PROGRAM} -O -dDepends -eusr/bin/neutra ${modules} ${suggested}
                  WORKING_DIRECTORY ${folder} OUTPUT_VARIABLE found ERROR_VARIABLE errors RESULT_VARIABLE result)
  file(REMOVE_RECURSE ${folder}/debian)
  if(NOT result EQUAL 0 OR NOT found MATCHES "shlibs:Depends=([^\n]*)")
    message(FATAL_ERROR "dpkg-shlibdeps: ${found}${errors}")
  endif()
  set(CPACK_DEBIAN_NEUTRA_PACKAGE_DEPENDS "${CMAKE_MATCH_1}" PARENT_SCOPE)
  if(found MATCHES "shlibs:Suggests=([^\n]*)")
    set(CPACK_DEBIAN_NEUTRA_PACKAGE_SUGGESTS "${CMAKE_MATCH_1}, ${CPACK_DEBIAN_NEUTRA_PACKAGE_SUGGESTS}" PARENT_SCOPE)
  endif()
endfunction()

set(packaging ${CMAKE_CURRENT_LIST_DIR}/../packaging/debian)
foreach(package neutra:neutra python:python3-neutra)
  string(REGEX MATCH "(.*):(.*)" unused ${package})
  set(name ${CMAKE_MATCH_2})
  set(folder ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${CMAKE_MATCH_1})
  set(share ${folder}/usr/share)
  if(name STREQUAL neutra)
    file(COPY ${packaging}/copyright DESTINATION ${share}/doc/neutra)
    # Links of the pages lead to it.
    file(CREATE_LINK ../../common-licenses/Apache-2.0 ${share}/doc/neutra/LICENSE SYMBOLIC)
    string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)  # or that of SOURCE_DATE_EPOCH
    configure_file(${packaging}/changelog.in ${share}/doc/neutra/changelog @ONLY)
    file(RENAME ${share}/zsh/site-functions ${share}/zsh/vendor-completions)  # where Debian's zsh looks
    file(GLOB pages ${share}/man/man1/*.1)
    compress(${share}/doc/neutra/changelog ${pages})
    libraries_of(${folder})
  else()
    file(MAKE_DIRECTORY ${share}/doc)
    file(CREATE_LINK neutra ${share}/doc/${name} SYMBOLIC)
  endif()
endforeach()
