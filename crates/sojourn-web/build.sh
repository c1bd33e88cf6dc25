#!/bin/sh
# Builds a module of the live page: `build.sh FILE` writes it, the fast one if the name ends in -fast.wasm, and
# `build.sh` says whether they can be built.
#
# rustup's toolchain has the target after `rustup target add wasm32-unknown-unknown`. Where that cannot be had,
# Debian's packages rustc-web, cargo-web, rust-web-src and lld build the standard library too, in some minutes.
set -eu
cd "$(dirname "$0")/../.."
target=wasm32-unknown-unknown

has_target() { [ -d "$(rustc --print sysroot)/lib/rustlib/$target/lib" ]; }
has_debian() { command -v rust-lld wasm-ld >/dev/null && /usr/bin/cargo --version >/dev/null 2>&1 &&
    [ -d "$(/usr/bin/rustc --print sysroot 2>/dev/null)/lib/rustlib/src/rust/library" ]; }
profile=web
case ${1-} in
*-fast.wasm) profile=web-fast ;;
# Inlining makes a module a quarter larger.
*) export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS="-C llvm-args=-inline-threshold=0 -C llvm-args=-inlinehint-threshold=30" ;;
esac
build() { "$@" rustc --package sojourn-web --lib --crate-type cdylib --profile $profile --target $target --locked \
    --quiet; }

if ! has_target && ! has_debian; then
    echo "no $target: run \`rustup target add $target\`, or see crates/sojourn-web/build.sh" >&2
    exit 2
fi
[ $# = 1 ] || exit 0
if has_target; then
    build cargo
else
    linker=$(command -v rust-lld || command -v wasm-ld)
    export RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER="$linker"
    build /usr/bin/cargo -Z build-std=std,panic_abort
fi
built="${CARGO_TARGET_DIR:-target}/$target/$profile/sojourn_web.wasm"
# An eighth smaller, where Binaryen is there: what the compiler's targets have is what its optimiser may use. The
# fast one is a tenth slower after it, in V8.
if [ $profile = web ] && command -v wasm-opt >/dev/null; then
    wasm-opt -Os --enable-bulk-memory --enable-sign-ext --enable-nontrapping-float-to-int --enable-mutable-globals \
        --enable-multivalue --enable-reference-types "$built" -o "$1.new"
else
    cp "$built" "$1.new"
fi
mv "$1.new" "$1"
