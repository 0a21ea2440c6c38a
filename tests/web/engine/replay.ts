// Replay the games of a file by the compiled kernels; print the first difference, or how many were equal.
// Arguments: tengen.wasm, and a file with one game in JSON per line, as test_wasm.py writes them.

import { readFileSync } from "node:fs";
import { Board, countPoints, type Side } from "../../../web/src/engine/board";
import { RULES } from "../../../web/src/engine/kernels";
import { Engine } from "../../../web/src/engine/memory";

interface Game {
  rows: number;
  cols: number;
  rules: keyof typeof RULES;
  stones: number[];
  turn: Side;
  moves: [Side, number][];
  refused: number[];
  masks: number[];
  undone: number;
  grid: number[];
  prisoners: [number, number];
  area: number;
  dead: number[];
  careful: number[];
  plain: number[];
}

/** Return one number for a mask, as `hash_of` does in Python. */
function hashOf(mask: Uint8Array): number {
  return mask.reduce((sum, bit, i) => sum + bit * ((i * 7919 + 13) % 65521), 0);
}

function same(what: string, found: ArrayLike<number>, wanted: ArrayLike<number>): void {
  const [one, two] = [Array.from(found).join(), Array.from(wanted).join()];
  if (one !== two) throw new Error(`${what}: ${one} instead of ${two}`);
}

function check(engine: Engine, game: Game): void {
  const board = new Board(engine, game.rows, game.cols, RULES[game.rules], game.stones, game.turn);
  game.moves.forEach(([side, move], i) => {
    same(`legal before move ${i + 1}`, [hashOf(board.legal(side))], [game.masks[i]!]);
    if (!board.play(move, side)) throw new Error(`move ${i + 1} was refused`);
  });
  same("reasons", board.grid.map((_, i) => board.verdict(i)), game.refused);
  same("stones", board.grid, game.grid);
  same("prisoners", board.prisoners, game.prisoners);
  same("area", [board.areaScore], [game.area]);
  for (const [way, careful] of [["careful", true], ["plain", false]] as const) {
    same(way, countPoints(engine, game.rows, game.cols, game.grid, game.dead, careful), game[way]);
  }
  for (let i = 0; i < 3 && board.moves.length; i++) board.undo();
  same("legal after undoing", [hashOf(board.legal())], [game.undone]);
  board.close();
}

const [, , module, file] = process.argv;
const engine = await Engine.load(await WebAssembly.compile(readFileSync(module!)));
const games = readFileSync(file!, "utf8").trim().split("\n");
games.forEach((line, number) => {
  try {
    check(engine, JSON.parse(line));
  } catch (failure) {
    console.error(`game ${number + 1}: ${(failure as Error).message}`);
    process.exit(1);
  }
});
console.log(games.length);
