// Print the chances that a level plays each move, the pass last.
// Arguments: tengen.wasm, the network, a file with the games in JSON, and the level.

import { readFileSync } from "node:fs";
import { chances, levelOn } from "../../../web/src/engine/levels";
import { Board } from "../../../web/src/engine/board";
import { LEVELS, RULES } from "../../../web/src/engine/kernels";
import { Engine } from "../../../web/src/engine/memory";
import { Network } from "../../../web/src/engine/network";

interface Games {
  size: number;
  rules: keyof typeof RULES;
  komi: number;
  moves: number[][];
}

const [, , module, weights, file, number] = process.argv;
const engine = await Engine.load(await WebAssembly.compile(readFileSync(module!)));
const bytes = readFileSync(weights!);
const network = new Network(engine, bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
const games: Games[] = JSON.parse(readFileSync(file!, "utf8"));
const found = games.flatMap(({ size, rules, komi, moves }) =>
  moves.map((line) => {
    const board = new Board(engine, size, size, RULES[rules]);
    for (const move of line) if (!board.play(move)) throw new Error(`move ${move} was refused`);
    const [view] = network.evaluate([board], komi);
    return [...chances(board, view!, levelOn(Number(number) as keyof typeof LEVELS, size))];
  }),
);
console.log(JSON.stringify(found));
