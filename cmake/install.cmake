# cmake --install BUILD --prefix PREFIX: the command, what it reads at run time, and the documentation.

include(GNUInstallDirs)
if(TARGET neutra)
  install(TARGETS neutra RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR})
