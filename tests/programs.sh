#!/bin/sh
# Prints the Debian packages of the programs that some tests use and this machine lacks. Without them these tests are
# skipped: pages are tested in a browser, their module in node, captures with tshark; valgrind counts instructions,
# strace kills commands; curl, iperf3 and ping send over emulated lines,
# and slirp4netns leads out of them. Binaryen makes the module small.
missing() {
    package=$1
    shift
    for program; do
        command -v "$program" >/dev/null && return
    done
    printf '%s ' "$package"
}
missing binaryen wasm-opt
missing chromium chromium chromium-browser google-chrome
missing curl curl
missing iperf3 iperf3
missing iputils-ping ping
missing nodejs node
missing slirp4netns slirp4netns
missing strace strace
missing tshark tshark
missing valgrind valgrind
