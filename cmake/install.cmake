# cmake --install BUILD --prefix PREFIX: what the command reads at run time, and the documentation.
# cli/ installs the command itself. Add --component command for all but the documentation.

file(GLOB bundled CONFIGURE_DEPENDS experiments/*.json)
install(FILES ${bundled} DESTINATION ${CMAKE_INSTALL_DATADIR}/neutra COMPONENT command)
foreach(folder benchmarks data faults programs studies subjects tables)
  install(DIRECTORY experiments/${folder} DESTINATION ${CMAKE_INSTALL_DATADIR}/neutra COMPONENT command
          FILES_MATCHING PATTERN "*.json" PATTERN "*.csv" PATTERN "*.tsv" PATTERN "*.h5")
endforeach()
# The Python package, for verbs that run Python: in a folder of its own, so that nothing else comes with it.
install(DIRECTORY python/neutra DESTINATION ${CMAKE_INSTALL_DATADIR}/neutra/python COMPONENT command
        FILES_MATCHING PATTERN "*.py" PATTERN "*.json" PATTERN py.typed PATTERN __pycache__ EXCLUDE PATTERN ".*" EXCLUDE
        PATTERN _native EXCLUDE)
# As in the source tree, so that links lead on.
install(FILES README.md CHANGELOG.md CONTRIBUTING.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT documentation)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT documentation)
install(FILES python/examples/repair_network.py DESTINATION ${CMAKE_INSTALL_DOCDIR}/python/examples
        COMPONENT documentation)

# What the command says of itself: completions where the shells look for them, manual pages. It is asked when it is installed.
install(CODE "
  set(root \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")
  function(write_text file)
    get_filename_component(folder \"\${root}/\${file}\" DIRECTORY)
    file(MAKE_DIRECTORY \"\${folder}\")
    execute_process(COMMAND \"$<TARGET_FILE:neutra>\" \${ARGN} -o \"\${root}/\${file}\" COMMAND_ERROR_IS_FATAL ANY)
  endfunction()
  write_text(${CMAKE_INSTALL_DATADIR}/bash-completion/completions/neutra completion bash)
  write_text(${CMAKE_INSTALL_DATADIR}/zsh/site-functions/_neutra completion zsh)
  write_text(${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d/neutra.fish completion fish)
  write_text(${CMAKE_INSTALL_MANDIR}/man1 man)
  file(GLOB texts RELATIVE \"\${root}\"
    \"\${root}/${CMAKE_INSTALL_DATADIR}/bash-completion/completions/neutra\"
    \"\${root}/${CMAKE_INSTALL_DATADIR}/zsh/site-functions/_neutra\"
    \"\${root}/${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d/neutra.fish\"
    \"\${root}/${CMAKE_INSTALL_MANDIR}/man1/neutra*.1\")
  foreach(text \${texts})
    file(CHMOD \"\${root}/\${text}\" PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
    list(APPEND CMAKE_INSTALL_MANIFEST_FILES \"\${CMAKE_INSTALL_PREFIX}/\${text}\")
  endforeach()"
  COMPONENT command)

# Digests of the bundled files, which neutra doctor compares. Last: of the files as they were installed.
install(CODE "
  set(folder \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/neutra\")
  execute_process(COMMAND \"$<TARGET_FILE:neutra>\" doctor --write-checksums \"\${folder}\" COMMAND_ERROR_IS_FATAL ANY)
  list(APPEND CMAKE_INSTALL_MANIFEST_FILES \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/neutra/checksums.json\")"
  COMPONENT command)
