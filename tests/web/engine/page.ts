// A page whose workers search; what they find is in `found`, for test_wasm.py.

import { Searchers } from "../../../web/src/engine/workers";
import type { Position } from "../../../web/src/engine/worker";

const position: Position = { rows: 9, cols: 9, rules: "chinese", bonus: 7.5, moves: [[1, 40], [2, 24]] };

async function start(): Promise<unknown> {
  const [module, network] = await Promise.all([
    WebAssembly.compileStreaming(fetch("tengen.wasm")),
    fetch("network").then((file) => file.arrayBuffer()),
  ]);
  const searchers = await Searchers.start("worker.js", module, network, 2);
  const moves = (visits: number) =>
    searchers.search(position, visits).then((report) => report.candidates.map(({ move, visits }) => [move, visits]));
  const both = await Promise.all([moves(30), moves(30)]);
  const hung = new AbortController();
  const endless = searchers.search(position, 100_000, () => hung.abort(), hung.signal);
  const refused = await searchers
    .search({ ...position, moves: [[1, 40], [2, 40]] }, 10)
    .catch((failure: Error) => failure.message);
  const { visits } = await endless;
  searchers.close();
  return { both, refused, stopped: visits > 0 && visits < 100_000 };
}

const made = start().catch((failure: Error) => ({ failure: String(failure) }));
(globalThis as unknown as { found: Promise<unknown> }).found = made;
made.then((found) => (document.body.textContent = JSON.stringify(found)));
