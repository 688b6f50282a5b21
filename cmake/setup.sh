# shellcheck shell=bash
# Sourced by the run.sh scripts:  require build [test] [bench]
# Installs what is missing on Debian and Ubuntu; elsewhere says what is missing and gives up.

# <what for> <package> <a command, or the headers of which one must exist>
needs() {
    cat <<'TABLE'
build g++                 c++
build cmake               cmake
build ninja-build         ninja
build libxtensor-dev      xtensor/xtensor.hpp xtensor/containers/xtensor.hpp
build libxtensor-blas-dev xtensor-blas/xblas.hpp
build libopenblas-dev     cblas.h
build nlohmann-json3-dev  nlohmann/json.hpp
build zlib1g-dev          zlib.h
test  catch2              catch2/catch.hpp catch2/catch_all.hpp
test  clang-14            clang++ clang++-14 clang++-15 clang++-16 clang++-17 clang++-18 clang++-19
test  libclang-rt-14-dev  clang_sanitizes
test  python3-scipy       python_has_scipy
bench libbenchmark-dev    benchmark/benchmark.h
TABLE
}

clang_sanitizes() {
    local clang
    for clang in clang++ clang++-{14..19}; do
        command -v "$clang" && { echo 'int main() {}' | "$clang" -fsanitize=address -x c++ -o /dev/null -; return; }
    done
}

python_has_scipy() {
    local python
    for python in /usr/bin/python3 python3; do
        "$python" -c 'import scipy.optimize' && return
    done
    return 1
}

is_there() {
    case $1 in
    *.h | *.hpp) echo "#include <$1>" | c++ -x c++ -M - ;;
    clang_sanitizes | python_has_scipy) "$1" ;;
    *) command -v "$1" ;;
    esac &>/dev/null
}

# The packages for the given purposes of which no probe succeeds.
missing() {
    local purpose package probes probe
    while read -r purpose package probes; do
        [[ " $* " == *" $purpose "* ]] || continue
        for probe in $probes; do
            is_there "$probe" && continue 2
        done
        echo "$package"
    done < <(needs)
}

require() {
    local packages as_root=()
    packages=$(missing "$@")
    [[ -z $packages ]] && return
    (( EUID )) && as_root=(sudo -n)
    if command -v apt-get >/dev/null && "${as_root[@]}" true 2>/dev/null; then
        echo "installing ${packages//$'\n'/ }"
        "${as_root[@]}" apt-get update -qq
        # shellcheck disable=SC2086  # one word per package
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
            apt-get install -qq -y --no-install-recommends $packages >/dev/null
        packages=$(missing "$@")
        [[ -z $packages ]] && return
    fi
    echo "plait cannot be built here; missing (by their Debian names): ${packages//$'\n'/ }" >&2
    exit 1
}
