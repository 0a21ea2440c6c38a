// Print the moves that levels choose, and how often the engine was asked.
// Arguments: tengen.wasm, the judge's file, the file of the network that levels draw from, and a file of
// questions in JSON: size, rules, komi, moves, level, seed.

import { readFileSync } from "node:fs";
import { RULES } from "../../../web/src/engine/kernels";
import { Judge } from "../../../web/src/engine/judge";
import { Engine } from "../../../web/src/engine/memory";
import { Network } from "../../../web/src/engine/network";
import type { LevelNumber } from "../../../web/src/engine/player";
import { TASKS } from "../../../web/src/engine/tasks";

interface Question {
  size: number;
  rules: keyof typeof RULES;
  komi: number;
  moves: number[];
  level: LevelNumber;
  seed: number;
}

const [, , module, judges, peoples, file] = process.argv;
const engine = await Engine.load(await WebAssembly.compile(readFileSync(module!)));
const network = (path: string) => new Network(engine, new Uint8Array(readFileSync(path)).buffer);
const best = network(judges!);
const people = network(peoples!);
const place = { engine, best, people: () => people, judge: new Judge(best), tell: () => {}, pause: async () => false };
const questions: Question[] = JSON.parse(readFileSync(file!, "utf8"));
const found = [];
for (const { size, rules, komi, moves, level, seed } of questions) {
  const line = moves.map((move, i): [1 | 2, number] => [i % 2 ? 2 : 1, move]);
  const position = { rows: size, cols: size, rules: RULES[rules], bonus: komi, first: 1 as const, moves: line };
  found.push((await TASKS.choose({ position, level, seed }, place))!.move);
}
console.log(JSON.stringify(found));
