# What the check.cmake of every example uses; included with a path relative to the check.
cmake_minimum_required(VERSION 3.25)

# run(<command>...): sets status, output and errors.
macro(run)
    execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE errors)
endmacro()

# run_well(<command>...): the same, and the command must succeed.
macro(run_well)
    run(${ARGN})
    if(NOT status EQUAL 0)
        message(FATAL_ERROR "exit ${status}: ${ARGN}\n${output}${errors}")
    endif()
    message("${output}")
endmacro()

# run_badly(<pattern> <command>...): the command must fail with one line on stderr that matches the pattern.
macro(run_badly pattern)
    run(${ARGN})
    if(status EQUAL 0)
        message(FATAL_ERROR "expected a failure: ${ARGN}\n${output}")
    elseif(NOT errors MATCHES "^[^\n]*${pattern}[^\n]*\n$")
        message(FATAL_ERROR "expected one line with \"${pattern}\", found:\n${errors}")
    endif()
endmacro()

function(expect)
    if(NOT (${ARGN}))
        list(JOIN ARGN " " condition)
        message(FATAL_ERROR "expected ${condition}")
    endif()
endfunction()

# In ten-thousandths, for CMake counts in integers.
function(ten_thousandths number result)
    if(NOT number MATCHES "^([0-9]+)(\\.([0-9]*))?$")
        message(FATAL_ERROR "not a plain number: ${number}")
    endif()
    string(SUBSTRING "${CMAKE_MATCH_3}0000" 0 4 fraction)
    math(EXPR value "${CMAKE_MATCH_1} * 10000 + 1${fraction} - 10000")
    set(${result} ${value} PARENT_SCOPE)
endfunction()
