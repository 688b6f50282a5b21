#!/usr/bin/env bash
# Kills a fusion at ten moments, then lets it finish; then fills a disk up.  interrupted.sh RESUMABLE_FUSION
set -euo pipefail
fusion=$1
folder=$(mktemp -d)
trap 'umount "$folder/small" 2>/dev/null || true; rm -rf "$folder"' EXIT

check() { # <name of the output> [shard size]
    local begin=$EPOCHREALTIME duration killed=0 finished=0 resumed=0 share
    "$fusion" "$folder/whole/$1" "${@:2}"
    duration=$((${EPOCHREALTIME//[^0-9]/} - ${begin//[^0-9]/})) # in microseconds
    for share in 10 25 45 60 30 70 80 90 95 99; do
        local micro=$((duration * share / 100))
        if timeout --signal=KILL "$((micro / 1000000)).$(printf %06d $((micro % 1000000)))" \
            "$fusion" "$folder/killed/$1" "${@:2}"; then
            ((++finished))
        else
            ((++killed))
        fi 2>/dev/null
        [[ -s $folder/killed/.$1.journal ]] && ((++resumed))
        if [[ -e $folder/killed/$1 ]]; then # a whole one, or none
            for file in "$folder"/whole/*; do cmp "$file" "$folder/killed/${file##*/}"; done
            rm -f "$folder/killed/$1"
        fi
    done
    "$fusion" "$folder/killed/$1" "${@:2}"
    diff -r "$folder/whole" "$folder/killed" # the same files, and nothing beside them
    echo "$1: killed $killed times, $resumed times with something to go on with; finished $finished times"
    ((resumed > 0))
    rm -rf "$folder"/whole/* "$folder"/killed/*
}
mkdir "$folder/whole" "$folder/killed" "$folder/small"
check fused.safetensors
check fused.safetensors.index.json 20000000

if mount -t tmpfs -o size=16m plait_test "$folder/small" 2>/dev/null; then
    if message=$("$fusion" "$folder/small/fused.safetensors" 2>&1); then
        echo "a full disk went unnoticed" >&2
        exit 1
    fi
    echo "$message"
    [[ $message == *"No space left"* && ! -e $folder/small/fused.safetensors ]]
else
    echo "a full disk was not tried: that needs the right to mount one"
fi
