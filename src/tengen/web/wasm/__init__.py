"""The kernels in the browser, compiled to WebAssembly.

`entries` lists what the page may call, `build` compiles it; `runtime.ll` has the memory of arrays
that kernels make for themselves. Only who changes a kernel needs `build`, which runs `wasm-ld`.
"""
