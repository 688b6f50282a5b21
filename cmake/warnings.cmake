# Warnings for our own code; never part of what a user of plait links.
add_library(plait_warnings INTERFACE)
target_compile_options(plait_warnings INTERFACE
    -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
    # g++ 12 sees overlapping copies inside std::string that are not there (GCC bug 105329).
    $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
    $<$<BOOL:${PLAIT_WERROR}>:-Werror>)
