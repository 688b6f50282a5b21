include(${CMAKE_CURRENT_LIST_DIR}/../support/check.cmake)

run_well(${EXE})
expect("${output}" STREQUAL "before      61.5000  77.2000\nplain mean  37.5500  48.0000\nfused       61.5000  77.2000\n")
