# neutra_module(NAME SOURCES...): neutra_NAME.so, code that the command opens when it is needed (base/module.h).
#
# The rest of what it calls is in the command, which exports it. All of the module's own symbols are looked up when it is
# opened, so that a missing one shows at once.
function(neutra_module name)
  set(target neutra_${name}_module)
  add_library(${target} MODULE ${ARGN} ${PROJECT_SOURCE_DIR}/base/module_build.cpp)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR} ${build_info_directory})
  add_dependencies(${target} neutra_build_info_header)
  target_link_options(${target} PRIVATE LINKER:-z,now)
  set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME neutra_${name}
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/cli)
  install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/neutra COMPONENT command)
  set_property(GLOBAL APPEND PROPERTY NEUTRA_MODULES ${target})
endfunction()
