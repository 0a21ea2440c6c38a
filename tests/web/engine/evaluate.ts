// Evaluate positions by the compiled network; print the answers, and processor milliseconds per position.
// Arguments: tengen.wasm, the network, a file with the games in JSON, and how often to repeat.

import { readFileSync } from "node:fs";
import { Board } from "../../../web/src/engine/board";
import { RULES } from "../../../web/src/engine/kernels";
import { Engine } from "../../../web/src/engine/memory";
import { Network } from "../../../web/src/engine/network";

interface Games {
  size: number;
  rules: keyof typeof RULES;
  komi: number;
  moves: number[][];
}

const [, , module, weights, file, times] = process.argv;
const engine = await Engine.load(await WebAssembly.compile(readFileSync(module!)));
const bytes = readFileSync(weights!);
const network = new Network(engine, bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
const games: Games[] = JSON.parse(readFileSync(file!, "utf8"));
const found = games.map(({ size, rules, komi, moves }) => {
  const boards = moves.map((line) => {
    const board = new Board(engine, size, size, RULES[rules]);
    for (const move of line) if (!board.play(move)) throw new Error(`move ${move} was refused`);
    return board;
  });
  let answers = network.evaluate(boards, komi);
  const spans = [];
  for (let i = 0; i < Number(times); i++) {
    const began = process.cpuUsage();
    answers = network.evaluate(boards, komi);
    spans.push(process.cpuUsage(began).user / 1000 / boards.length);
  }
  return {
    milliseconds: Math.min(...spans),
    answers: answers.map((one) => ({ ...one, priors: [...one.priors], best: [...one.best], ownership: [...one.ownership] })),
  };
});
console.log(JSON.stringify(found));
