// Search positions by the compiled kernels; print the visits of the root's moves, most first.
// Arguments: tengen.wasm, the network, a file with the games in JSON, and the visits of a search.

import { readFileSync } from "node:fs";
import { Board } from "../../../web/src/engine/board";
import { RULES } from "../../../web/src/engine/kernels";
import { Engine } from "../../../web/src/engine/memory";
import { Network } from "../../../web/src/engine/network";
import { Search } from "../../../web/src/engine/search";

interface Games {
  size: number;
  rules: keyof typeof RULES;
  komi: number;
  moves: number[][];
}

const [, , module, weights, file, visits] = process.argv;
const engine = await Engine.load(await WebAssembly.compile(readFileSync(module!)));
const bytes = readFileSync(weights!);
const network = new Network(engine, bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
const games: Games[] = JSON.parse(readFileSync(file!, "utf8"));
const found = games.flatMap(({ size, rules, komi, moves }) =>
  moves.map((line) => {
    const board = new Board(engine, size, size, RULES[rules]);
    for (const move of line) if (!board.play(move)) throw new Error(`move ${move} was refused`);
    const search = new Search(network, board, komi, Number(visits));
    search.run(Number(visits));
    const { candidates } = search.report;
    search.close();
    board.close();
    return candidates.map(({ move, visits, score }) => [move, visits, score]);
  }),
);
console.log(JSON.stringify(found));
