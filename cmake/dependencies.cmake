# What plait::plait links, and, where it can be found, what plait::io adds.
find_package(Threads REQUIRED)
find_package(BLAS REQUIRED)
find_package(xtensor REQUIRED)
find_package(xtensor-blas REQUIRED)

# Tests, benches and examples read files; a project that embeds plait may do without plait::io.
if(PLAIT_BUILD_TESTS OR PLAIT_BUILD_BENCHES OR PLAIT_BUILD_EXAMPLES)
    find_package(nlohmann_json REQUIRED)
else()
    find_package(nlohmann_json QUIET)
endif()
