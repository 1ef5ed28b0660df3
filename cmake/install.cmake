# What `make install` puts where.
include(CMakePackageConfigHelpers)

install(DIRECTORY include/espalier DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h")

# Two export sets: users of the shared library need none of the packages that the static
# one makes them link.
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/espalier)
foreach(kind shared static)
  install(TARGETS espalier_${kind} EXPORT espalier_${kind}
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT espalier_${kind} NAMESPACE espalier:: DESTINATION ${package_dir}
          FILE espalier_${kind}.cmake)
endforeach()
configure_package_config_file(cmake/espalierConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/espalierConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/espalierConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/espalierConfig.cmake
        ${PROJECT_BINARY_DIR}/espalierConfigVersion.cmake DESTINATION ${package_dir})

# Relative to the file itself, so that an installed tree can be moved.
file(RELATIVE_PATH prefix_from_pc ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig
     ${CMAKE_INSTALL_PREFIX})
include(cmake/static_runtime.cmake)
# A file of its own, for its libraries have to come after those of the others.
foreach(name espalier espalier-runtime)
  configure_file(cmake/${name}.pc.in ${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

# Man pages and messages name them.
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/espalier
        FILES_MATCHING PATTERN "*.md")
# Made by the program when it is built, see src/CMakeLists.txt.
install(DIRECTORY ${PROJECT_BINARY_DIR}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES man/espalier-mpi.7 DESTINATION ${CMAKE_INSTALL_MANDIR}/man7)
install(FILES ${PROJECT_BINARY_DIR}/espalier.bash
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME espalier)
install(FILES ${PROJECT_BINARY_DIR}/espalier.zsh
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions RENAME _espalier)
install(FILES ${PROJECT_BINARY_DIR}/espalier.fish
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

# The Python binding needs nothing but the library, which it finds from where it lies.
set(ESPALIER_PYTHON_DIR lib/python3/dist-packages CACHE STRING "Where the binding goes")
install(DIRECTORY python/espalier DESTINATION ${ESPALIER_PYTHON_DIR}
        FILES_MATCHING PATTERN "*.py" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)
