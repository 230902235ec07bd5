# cmake --install BUILD --prefix PREFIX: what the command reads at run time, and the documentation.
# cli/ installs the command itself. Add --component command for all but the documentation.

file(GLOB bundled CONFIGURE_DEPENDS experiments/*.json)
install(FILES ${bundled} DESTINATION ${CMAKE_INSTALL_DATADIR}/neutra COMPONENT command)
foreach(folder benchmarks data faults programs studies subjects tables)
  install(DIRECTORY experiments/${folder} DESTINATION ${CMAKE_INSTALL_DATADIR}/neutra COMPONENT command
          FILES_MATCHING PATTERN "*.json" PATTERN "*.csv" PATTERN "*.tsv" PATTERN "*.h5")
endforeach()
# As in the source tree, so that links lead on.
install(FILES README.md CHANGELOG.md CONTRIBUTING.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT documentation)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT documentation)
install(FILES python/examples/repair_network.py DESTINATION ${CMAKE_INSTALL_DOCDIR}/python/examples
        COMPONENT documentation)

# What the command says of itself: completions where the shells look for them, manual pages. It is asked when it is installed.
set(command_texts ${PROJECT_BINARY_DIR}/command_texts)
install(CODE "
  file(REMOVE_RECURSE \"${command_texts}\")
  file(MAKE_DIRECTORY \"${command_texts}\")
  foreach(text bash:neutra zsh:_neutra fish:neutra.fish)
    string(REPLACE \":\" \";\" text \"\${text}\")
    list(GET text 0 shell)
    list(GET text 1 name)
    execute_process(COMMAND \"$<TARGET_FILE:neutra>\" completion \${shell} -o \"${command_texts}/\${name}\"
                    COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
  execute_process(COMMAND \"$<TARGET_FILE:neutra>\" man -o \"${command_texts}/man\" COMMAND_ERROR_IS_FATAL ANY)"
  COMPONENT command)
install(FILES ${command_texts}/neutra DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT command)
install(FILES ${command_texts}/_neutra DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT command)
install(FILES ${command_texts}/neutra.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT command)
install(DIRECTORY ${command_texts}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT command)

# Digests of the bundled files, which neutra doctor compares. Last: of the files as they were installed.
install(CODE "
  set(folder \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/neutra\")
  execute_process(COMMAND \"$<TARGET_FILE:neutra>\" doctor --write-checksums \"\${folder}\" COMMAND_ERROR_IS_FATAL ANY)
  list(APPEND CMAKE_INSTALL_MANIFEST_FILES \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/neutra/checksums.json\")"
  COMPONENT command)
