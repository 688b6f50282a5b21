# cmake -DEXPECT=<sentence> -P expect_failure.cmake -- <command>: the command must fail and print the sentence.
cmake_minimum_required(VERSION 3.25)

math(EXPR last "${CMAKE_ARGC} - 1")
set(command "")
foreach(i RANGE 5 ${last})
    list(APPEND command ${CMAKE_ARGV${i}})
endforeach()

execute_process(COMMAND ${command} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(status EQUAL 0)
    message(FATAL_ERROR "this should not compile:\n  ${EXPECT}")
endif()

string(REGEX REPLACE "[^A-Za-z0-9]+" "_" as_name "${EXPECT}")
string(FIND "${output}" "${EXPECT}" as_sentence_at)
string(FIND "${output}" "${as_name}" as_name_at)
if(as_sentence_at EQUAL -1 AND as_name_at EQUAL -1)
    message(FATAL_ERROR "expected the sentence:\n  ${EXPECT}\nthe compiler printed:\n${output}")
endif()
