"""The live page of `sojourn lab`: a home to play with, simulated in the browser.

`static` is the page: ES modules, and the simulator as a WebAssembly module, which `make web`
builds. `server` serves these files to this machine; any other web server can.
"""
