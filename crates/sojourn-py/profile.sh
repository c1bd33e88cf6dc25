#!/bin/sh
# Profile-guided optimisation: `profile.sh FILE COMMAND...`, where the command builds a wheel, builds one that counts
# which code runs, simulates all scenarios with it, writes the counts to FILE and prints the option that uses them.
# With PROFILE=OTHER these are the counts of another build. LLVM_PROFDATA is another place of that program.
set -eu
cd "$(dirname "$0")/../.."
if [ -n "${PROFILE:-}" ]; then
    cp "$PROFILE" "$1"
    echo "-Cprofile-use=$1"
    exit 0
fi
llvm_profdata=${LLVM_PROFDATA:-$(find "$(rustc --print sysroot)/lib/rustlib" -name llvm-profdata)}
if [ -z "$llvm_profdata" ]; then
    echo "no llvm-profdata, so the wheel is built without a profile: run \`rustup component add llvm-tools\`" >&2
    exit 0
fi
counts=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The command as it is, since other options give functions other names. But zig does not link what counts.
RUSTFLAGS="-Cprofile-generate=$work/counts -Clinker=cc" "$@" --auditwheel skip --out "$work" >&2
python -m zipfile --extract "$work"/*.whl "$work/module"
PYTHONPATH="$work/module" python -m sojourn run scenarios/*.toml --duration 10 --quiet
"$llvm_profdata" merge --output "$counts" "$work/counts"
echo "-Cprofile-use=$counts"
