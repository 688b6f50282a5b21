# Toolchain of the clang preset: distributions name the compiler with or without its version.
find_program(plait_clang NAMES clang++ clang++-14 clang++-15 clang++-16 clang++-17 clang++-18 clang++-19 REQUIRED)
set(CMAKE_CXX_COMPILER ${plait_clang})
