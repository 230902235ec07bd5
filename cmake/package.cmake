# cpack -G DEB in the build folder: the Debian packages neutra and python3-neutra.

set(NEUTRA_MAINTAINER "neutra maintainers <maintainers@neutra.invalid>" CACHE STRING
    "Who made the packages: NAME <ADDRESS>, as Debian's control files have it")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME neutra)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT ${NEUTRA_MAINTAINER})
# Each package has its own, as the first line of its description.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/debian_files.cmake)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL command documentation python)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_COMPONENT_COMMAND_GROUP neutra)
set(CPACK_COMPONENT_DOCUMENTATION_GROUP neutra)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_SOURCE neutra)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_NEUTRA_PACKAGE_NAME neutra)
# Its libraries come to these: debian_files.cmake asks which they are.
set(CPACK_DEBIAN_NEUTRA_PACKAGE_SUGGESTS
    "python3-neutra, openmpi-bin | mpich, graphviz, librsvg2-bin, dataset-fashion-mnist")
set(CPACK_DEBIAN_NEUTRA_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/packaging/debian/neutra/prerm)
set(CPACK_DEBIAN_NEUTRA_DESCRIPTION "search for every small repair of a faulty deep-learning program
neutra takes a faulty deep-learning program, searches in parallel for every
small patch that repairs it (the neutrality network), and tells which repairs
are as good as the known fix. Fault-localisation tools can then be judged
against all repairs, not just one. It also makes faulty programs with mutation
operators.

Programs are written in Keras's words and trained natively, with the semantics
of tf.keras 2.4. Most need nothing more; layers such as LSTM are trained with
LibTorch where that is installed. Searches spread over the ranks of an MPI job.
The faults of a published study are included.")

set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-neutra)
set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS
    "neutra (= ${PROJECT_VERSION}), python3:any, python3-h5py, python3-networkx, python3-numpy, python3-pandas")
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA
    ${PROJECT_SOURCE_DIR}/packaging/debian/python3-neutra/postinst ${PROJECT_SOURCE_DIR}/packaging/debian/python3-neutra/prerm)
set(CPACK_DEBIAN_PYTHON_DESCRIPTION "searches for repairs of deep-learning programs, from Python
neutra searches for every small repair of a faulty deep-learning program. This
package calls the command and reads its files: tables are pandas frames,
networks are networkx graphs, and a fault-localisation tool is a function.")

install(DIRECTORY python/neutra DESTINATION lib/python3/dist-packages COMPONENT python EXCLUDE_FROM_ALL
        FILES_MATCHING PATTERN "*.py" PATTERN "*.json" PATTERN py.typed PATTERN __pycache__ EXCLUDE PATTERN ".*" EXCLUDE)

include(CPack)
