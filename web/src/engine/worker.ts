// A Web Worker with kernels and a network of its own, which searches one position at a time.

import { Board, type Index, type Side } from "./board";
import { RULES } from "./kernels";
import { Engine } from "./memory";
import { Network } from "./network";
import { Search, type Candidate } from "./search";

export interface Position {
  rows: number;
  cols: number;
  rules: keyof typeof RULES;
  /** Points that White receives. */
  bonus: number;
  /** 0, 1 (Black) or 2 (White) for each point before the first move; empty if not given. */
  stones?: number[];
  turn?: Side;
  moves: [Side, Index][];
}

export type Question =
  | { what: "load"; module: WebAssembly.Module; network: ArrayBuffer }
  | { what: "search"; id: number; position: Position; visits: number }
  | { what: "stop" };

export type Answer =
  | { what: "loaded" }
  | { what: "report"; id: number; visits: number; candidates: Candidate[]; last: boolean }
  | { what: "failed"; id: number; message: string };

const BETWEEN_REPORTS = 250; // milliseconds

let network: Network;
let engine: Engine;
let stopped = false;

const tell = (answer: Answer) => postMessage(answer);

addEventListener("message", async ({ data }: MessageEvent<Question>) => {
  if (data.what === "stop") stopped = true;
  else if (data.what === "load") {
    engine = await Engine.load(data.module);
    network = new Network(engine, data.network);
    tell({ what: "loaded" });
  } else {
    stopped = false;
    await search(data.id, data.position, data.visits).catch((failure) =>
      tell({ what: "failed", id: data.id, message: String(failure?.message ?? failure) }),
    );
  }
});

async function search(id: number, position: Position, visits: number): Promise<void> {
  const { rows, cols, rules, bonus, stones, turn, moves } = position;
  const board = new Board(engine, rows, cols, RULES[rules], stones, turn);
  moves.forEach(([side, move], i) => {
    if (!board.play(move, side)) throw new Error(`move ${i + 1} is not legal`);
  });
  const tree = new Search(network, board, bonus, visits);
  while (tree.visits < visits && !stopped) {
    const until = performance.now() + BETWEEN_REPORTS;
    tree.run(visits, () => performance.now() > until);
    const last = tree.visits >= visits || stopped;
    if (!last) tell({ what: "report", id, visits: tree.visits, candidates: tree.candidates, last });
    await new Promise((resume) => setTimeout(resume)); // a message to stop may come in
  }
  tell({ what: "report", id, visits: tree.visits, candidates: tree.candidates, last: true });
  tree.close();
  board.close();
}
