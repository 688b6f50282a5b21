include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_DATADIR}/cmake/plait)
install(TARGETS plait EXPORT plaitTargets FILE_SET HEADERS)
install(EXPORT plaitTargets NAMESPACE plait:: DESTINATION ${package_dir})

# An export of its own, so that plait::plait can be found where nlohmann-json is not installed.
if(TARGET plait_io)
    install(TARGETS plait_io EXPORT plaitIoTargets FILE_SET HEADERS)
    install(EXPORT plaitIoTargets NAMESPACE plait:: DESTINATION ${package_dir})
endif()

configure_package_config_file(cmake/plaitConfig.cmake.in plaitConfig.cmake INSTALL_DESTINATION ${package_dir}
    NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(plaitConfigVersion.cmake COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/plaitConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/plaitConfigVersion.cmake
    DESTINATION ${package_dir})
