include(${CMAKE_CURRENT_LIST_DIR}/../support/check.cmake)

run_well(${EXE})
expect("${output}" MATCHES "original: accuracy (0\\.9[0-9]+)")
string(REGEX MATCH "original: accuracy (0\\.9[0-9]+)" unused "${output}")
set(original ${CMAKE_MATCH_1})
foreach(copies 2 8 64)
    expect("${output}" MATCHES "\n +${copies} +0\\.[0-9]+ +${original} +0\\.0e\\+00 +bit for bit\n")
endforeach()

# Chance is 0.1: the mean of 64 orders is a constant.
string(REGEX MATCH "\n +64 +(0\\.[0-9]+)" unused "${output}")
expect(${CMAKE_MATCH_1} LESS 0.2)
