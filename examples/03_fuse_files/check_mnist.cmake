# Strangers' checkpoints: the plain mean scores 0.454 (a + b) and 0.744 (a + c).
include(${CMAKE_CURRENT_LIST_DIR}/../support/check.cmake)

if(NOT EXISTS ${DATA}/checkpoints/mnist_cnn_a.safetensors)
    message("skipped: there are no checkpoints in ${DATA}")
    return()
endif()

function(fuse_and_score with least)
    run_well(${EXE} --spec ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/mnist_cnn.spec --out a_${with}.safetensors --balance
        ${DATA}/checkpoints/mnist_cnn_a.safetensors ${DATA}/checkpoints/mnist_cnn_${with}.safetensors)
    run_well(${SCORE} ${DATA}/mnist/t10k-images-idx3-ubyte.gz ${DATA}/mnist/t10k-labels-idx1-ubyte.gz
        a_${with}.safetensors)
    expect("${output}" MATCHES "accuracy (0\\.[0-9]+)")
    string(REGEX MATCH "accuracy (0\\.[0-9]+)" unused "${output}")
    expect(${CMAKE_MATCH_1} GREATER_EQUAL ${least})
endfunction()

fuse_and_score(b 0.972)
fuse_and_score(c 0.977)
