# Runs the command NEUTRA in FOLDER with LibTorches that it can't use (OTHER: of another version, OLD: with the classes of before
# GCC 5) and without one: trainings of the fused back end go on, what needs LibTorch says what is wrong and how to mend it.

file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})

# expect(TORCH EXIT OUTPUT ARGUMENTS...): the exit code, and a pattern of what is written with NEUTRA_TORCH=TORCH.
function(expect torch exit pattern)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env NEUTRA_TORCH=${torch} ${NEUTRA} ${ARGN} WORKING_DIRECTORY ${FOLDER}
                  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL exit OR NOT output MATCHES "${pattern}")
    message(SEND_ERROR "exit ${result}, not ${exit}, or no '${pattern}', from ${ARGN} with NEUTRA_TORCH=${torch}:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

set(unfit "LibTorch 2[.]99[.]0 in ${OTHER}/libtorch_cpu[.]so doesn't fit, the eager back end is built for [0-9]+[.][0-9]+; .+")
set(search search D7 --budget-evaluations 3 --workers 1 --quiet)

expect(${OTHER} 0 "warning: ${unfit}" ${search} --store other.h5)
expect(${OTHER} 1 "${unfit}" train D7 --backend eager --replicas 1)
expect(${OTHER} 1 "${unfit}" --version)
expect(${OLD} 1 "LibTorch of before 2[.]7 .* in ${OLD}/libtorch_cpu[.]so doesn't fit, " --version)
expect(${FOLDER}/nowhere 1 "NEUTRA_TORCH: found ${FOLDER}/nowhere, without libtorch_cpu[.]so; allowed: " --version)

expect(none 0 "LibTorch none: NEUTRA_TORCH=none leaves LibTorch out\n.*BLAS route: none" --version)
expect(none 0 "" ${search} --store none.h5)
if(output MATCHES "warning|LibTorch")
  message(SEND_ERROR "a search that needs no LibTorch speaks of it:\n${output}")
endif()
expect(none 0 "" train D7 --replicas 1)
expect(none 1 "NEUTRA_TORCH=none leaves LibTorch out" train D7 --backend eager --replicas 1)

# A program that the fused back end doesn't know.
file(READ ${SUBJECTS}/line.json subject)
string(JSON program GET "${subject}" program)
string(JSON program SET "${program}" model config layers 0 config activity_regularizer
       [[{"class_name": "L2", "config": {"l2": 0.01}}]])
file(WRITE ${FOLDER}/eager.json "${program}")
expect(none 1 "a program needs the eager back end [(].+[)]: NEUTRA_TORCH=none .*; --backend fused leaves such programs out"
       train eager.json --replicas 1)
expect("" 0 "eager" train eager.json --replicas 1)

# TorchScript.
expect("" 0 "" export D7 --format torchscript -o model.pt)
expect("" 0 "" evaluate D7 --weights model.pt)
expect(none 1 "NEUTRA_TORCH=none leaves LibTorch out" evaluate D7 --weights model.pt)
expect(none 1 "NEUTRA_TORCH=none leaves LibTorch out" export D7 --format torchscript -o other.pt)
