#!/bin/sh
# run.sh MINUTES: every target for its share of so many minutes, with seeds that differ from day to day.
#
# Plain cargo builds the targets, with the compiler's coverage instrumentation; `cargo fuzz run NAME` works
# too, where it is installed. What was found stays in out/fuzz, and how often each target ran in
# out/fuzz/executions.csv.
set -eu
cd "$(dirname "$0")"
minutes=${1:-10}
targets="network text modem_file capture queue wasm_part"
host=$(rustc -vV | sed -n 's/^host: //p')
export CARGO_INCREMENTAL=0
export RUSTFLAGS="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=8"
cargo build --release --locked --quiet --target "$host" --bins
seconds=$((minutes * 60 / 6))
seed=$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')
mkdir -p ../out/fuzz
status=0
for target in $targets; do
    work=../out/fuzz/$target
    mkdir -p "$work"
    echo "$target for $seconds s, seed $seed"
    if ! "target/$host/release/$target" "$work" "corpus/$target" -seed="$seed" -max_total_time=$seconds \
        -timeout=30 -rss_limit_mb=3000 -max_len=4096 -print_final_stats=1 \
        -artifact_prefix="../out/fuzz/$target-" 2> "../out/fuzz/$target.log"; then
        status=1
        tail -n 30 "../out/fuzz/$target.log"
    fi
    done=$(sed -n 's/^stat::number_of_executed_units: *//p' "../out/fuzz/$target.log")
    echo "$(date +%F),$target,$seed,${done:-0}" >> ../out/fuzz/executions.csv
    echo "$target: ${done:-0} executions"
done
exit $status
