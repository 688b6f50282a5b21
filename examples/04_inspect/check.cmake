include(${CMAKE_CURRENT_LIST_DIR}/../support/check.cmake)

run_well(${EXE} ${CHECKPOINTS}/contributor_1.safetensors)
expect("${output}" MATCHES "fc2.weight +F32 +\\[512, 512\\] +1048576 bytes\n")
expect("${output}" MATCHES "6 tensors, 1204264 bytes\n")

file(WRITE broken.safetensors "<!DOCTYPE html>")
run_badly("broken.safetensors" ${EXE} broken.safetensors)
expect(${status} EQUAL 1)
run_badly("absent.safetensors" ${EXE} absent.safetensors)
expect(${status} EQUAL 1)
