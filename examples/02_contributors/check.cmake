include(${CMAKE_CURRENT_LIST_DIR}/../support/check.cmake)

run_well(${EXE})
file(READ contributors.json json)
foreach(key best_single naive fused ensemble joint)
    string(JSON loss GET "${json}" ${key} loss)
    expect(${loss} GREATER 0)
    string(JSON accuracy GET "${json}" ${key} accuracy)
    ten_thousandths(${accuracy} ${key})
endforeach()
string(JSON seeds LENGTH "${json}" seeds contributors)
expect(${seeds} EQUAL 8)

expect(${naive} LESS 2000) # chance is 0.1
expect(${fused} GREATER_EQUAL 9000)
math(EXPR worse_than_best "${best_single} - ${fused}")
expect(${worse_than_best} LESS_EQUAL 300)
