include(${CMAKE_CURRENT_LIST_DIR}/../support/check.cmake)

run_badly("usage" ${EXE})
if(NOT EXISTS ${DATA}/checkpoints/mnist_cnn_a.safetensors)
    message("skipped: there are no checkpoints in ${DATA}")
    return()
endif()
run_well(${EXE} ${DATA}/mnist/t10k-images-idx3-ubyte.gz ${DATA}/mnist/t10k-labels-idx1-ubyte.gz
    ${DATA}/checkpoints/mnist_cnn_a.safetensors ${DATA}/checkpoints/fashion_cnn_a.safetensors
    ${DATA}/checkpoints/mnist_cnn_b.safetensors 1000)

# Accuracies of the lines of scale 0.5, table after table.
string(REGEX MATCHALL "\n0\\.5 +[0-9.]+" halves "${output}")
list(LENGTH halves tables)
expect(${tables} EQUAL 3)
foreach(table RANGE 2)
    list(GET halves ${table} line)
    string(REGEX REPLACE ".* " "" accuracy "${line}")
    ten_thousandths(${accuracy} half_${table})
endforeach()
expect(${half_1} LESS 6000) # strangers' networks, as they are
expect(${half_2} GREATER 9600)
