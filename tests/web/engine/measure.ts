// Evaluations and searches to be timed by benchmarks/page_engine.py, in a page of the site.

import { Board } from "../../../web/src/engine/board";
import { RULES } from "../../../web/src/engine/kernels";
import { Engine } from "../../../web/src/engine/memory";
import { Network } from "../../../web/src/engine/network";
import type { Position } from "../../../web/src/engine/tasks";
import { Workers } from "../../../web/src/engine/workers";

interface Games {
  size: number;
  komi: number;
  moves: number[][];
}

const bytes = (file: string) => fetch(file).then((answer) => answer.arrayBuffer());
const evaluations = new Map<string, (times: number) => void>();

/** Get ready to evaluate the last positions of games with some kernels. */
async function prepare(kernels: string, network: string, { size, komi, moves }: Games): Promise<void> {
  const engine = await Engine.load(await WebAssembly.compile(await bytes(kernels)));
  const found = new Network(engine, await bytes(network));
  const boards = moves.map((line) => {
    const board = new Board(engine, size, size, RULES.cgos);
    for (const move of line) board.play(move);
    return board;
  });
  evaluations.set(kernels, (times) => {
    for (let i = 0; i < times; i++) found.evaluate(boards, komi);
  });
}

/** Search the last positions of games at the same time; return visits in all, and the workers' seconds. */
async function search(kernels: string, network: string, { size, komi, moves }: Games, visits: number): Promise<[number, number]> {
  const [module, best] = [await WebAssembly.compile(await bytes(kernels)), await bytes(network)];
  const workers = new Workers(Promise.resolve({ script: "static/worker.js", module, best, people: best }), moves.length);
  const positions = moves.map((line): Position => {
    const played = line.map((move, i): [1 | 2, number] => [i % 2 ? 2 : 1, move]);
    return { rows: size, cols: size, rules: RULES.cgos, bonus: komi, first: 1, moves: played };
  });
  const all = (visits: number) => Promise.all(positions.map((position) => workers.run("search", { position, visits })));
  await all(10);
  const began = performance.now();
  const found = await all(visits);
  const seconds = (performance.now() - began) / 1000;
  workers.close();
  return [found.reduce((sum, one) => sum + one.visits, 0), seconds];
}

const evaluate = (kernels: string, times: number) => evaluations.get(kernels)!(times);
Object.assign(globalThis, { measured: { prepare, evaluate, search } });
