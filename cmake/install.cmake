# cmake --install BUILD --prefix PREFIX: what the command reads at run time, and the documentation.
# cli/ installs the command itself.

include(GNUInstallDirs)
install(DIRECTORY experiments/ DESTINATION ${CMAKE_INSTALL_DATADIR}/neutra
        FILES_MATCHING PATTERN "*.json" PATTERN "*.csv" PATTERN "*.tsv" PATTERN "*.h5")
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR})
