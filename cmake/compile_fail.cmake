# plait_add_compile_fail(<name> <file> CASE <n> EXPECT <sentence>)
#
# Two tests on one file: as it stands it must compile; with -DPLAIT_CASE=<n> it must not, and the compiler must
# print the sentence. A consteval function may carry the sentence as its name, with "_" for spaces.
function(plait_add_compile_fail name file)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "CASE;EXPECT" "")
    cmake_path(ABSOLUTE_PATH file)

    # Naming a compiler's own directory again would reorder its headers, so those are left out.
    set(dirs $<TARGET_PROPERTY:plait,INTERFACE_INCLUDE_DIRECTORIES>)
    set(dirs $<FILTER:${dirs},EXCLUDE,^/usr/include$>)
    # Without the quoted source lines the sentence can only come from the message itself.
    set(no_source -fno-caret-diagnostics)
    if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
        set(no_source -fno-diagnostics-show-caret)
    endif()
    set(compile ${CMAKE_CXX_COMPILER} -std=c++20 -fsyntax-only ${no_source} -I$<JOIN:${dirs},$<SEMICOLON>-I> ${file})

    cmake_path(GET file STEM stem)
    if(NOT TEST compile_fail.${stem})
        add_test(NAME compile_fail.${stem} COMMAND ${compile} COMMAND_EXPAND_LISTS)
    endif()
    add_test(NAME compile_fail.${stem}.${name}
        COMMAND ${CMAKE_COMMAND} -DEXPECT=${arg_EXPECT} -P ${PROJECT_SOURCE_DIR}/cmake/expect_failure.cmake
            -- ${compile} -DPLAIT_CASE=${arg_CASE}
        COMMAND_EXPAND_LISTS)
    set_tests_properties(compile_fail.${stem}.${name} PROPERTIES DEPENDS compile_fail.${stem} LABELS compile_fail)
    set_tests_properties(compile_fail.${stem} PROPERTIES LABELS compile_fail)
endfunction()
