// A page whose workers search; what they find is in `found`, for test_wasm.py.

import { RULES } from "../../../web/src/engine/kernels";
import type { Position } from "../../../web/src/engine/tasks";
import { Workers } from "../../../web/src/engine/workers";

const position: Position = { rows: 9, cols: 9, rules: RULES.chinese, bonus: 7.5, first: 1, moves: [[1, 40], [2, 24]] };

async function start(): Promise<unknown> {
  const [module, network] = await Promise.all([
    WebAssembly.compileStreaming(fetch("tengen.wasm")),
    fetch("network").then((file) => file.arrayBuffer()),
  ]);
  const parts = Promise.resolve({ script: "worker.js", module, best: network, people: network });
  const workers = new Workers(parts, 2);
  const moves = (visits: number) =>
    workers.run("search", { position, visits }).then((report) => report.candidates.map(({ move, visits }) => [move, visits]));
  const both = await Promise.all([moves(30), moves(30)]);
  const hung = new AbortController();
  const endless = workers.run("search", { position, visits: 100_000 }, { take: () => hung.abort(), signal: hung.signal });
  const refused = await workers
    .run("search", { position: { ...position, moves: [[1, 40], [2, 40]] }, visits: 10 })
    .catch((failure: Error) => failure.message);
  const { visits } = await endless;
  workers.close();
  return { both, refused, stopped: visits > 0 && visits < 100_000 };
}

const made = start().catch((failure: Error) => ({ failure: String(failure) }));
(globalThis as unknown as { found: Promise<unknown> }).found = made;
made.then((found) => (document.body.textContent = JSON.stringify(found)));
