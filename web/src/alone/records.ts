// Games of SGF files, as the page shows and reviews them, and games written as SGF.

import { ApiError, type GameRecord, type WholeGame } from "../api";
import type { Engine } from "../engine/memory";
import type { Index, Side } from "../engine/board";
import { t } from "../i18n";
import { indexOf, sideOf } from "../positions";
import { boardAt, knownSize, lineThrough, moveOf, newNode, parseAll, sizeOf, toSgf, write, type Node } from "../sgf";
import { boardOf, namedMoves, nameOfRules, positionOf, rulesNamed, BLACK, WHY_NOT, type BoardValue } from "./values";

const MOST_GAMES = 100;
const MOST_MOVES = 2000;
const LONGEST = 120; // characters of a name that are kept

/** A game of a file. */
export interface GameOfFile {
  root: Node;
  file: string;
  game: number;
}

/** Read all games of a file in SGF. */
export async function readGames(body: Blob | string, name: string): Promise<GameOfFile[]> {
  const data = typeof body === "string" ? new TextEncoder().encode(body) : new Uint8Array(await body.arrayBuffer());
  const file = name.split(/[\\/]/).pop()!.slice(0, 80) || "game.sgf";
  let text = new TextDecoder().decode(data);
  const label = /CA\[([^\]]*)\]/.exec(text)?.[1];
  try {
    if (label) text = new TextDecoder(label).decode(data);
  } catch {
    // An unknown name of an encoding: as UTF-8.
  }
  let roots: Node[];
  try {
    roots = parseAll(text);
  } catch {
    throw new ApiError(`${file}: ${t("notSgf")}`, 422);
  }
  const odd = roots.find((root) => !knownSize(root));
  if (odd) throw new ApiError(`${file}: ${t("noSuchSize", { size: odd.props.SZ![0]! })}`, 422);
  return roots.slice(0, MOST_GAMES).map((root, i) => ({ root, file, game: i + 1 }));
}

function number(text: string | undefined): number {
  const found = Number(text?.replace(",", "."));
  return Number.isFinite(found) && Math.abs(found) < 400 ? found : 0;
}

/** Return a game up to its first illegal move, edit in mid-game or end, and what is wrong with what follows. */
export function legalPart(engine: Engine, { root, file }: GameOfFile): [BoardValue, trouble: string] {
  const size = sizeOf(root);
  const rules = { ...rulesNamed(root.props.RU?.[0] ?? ""), ko: 0 };
  const line = lineThrough(root);
  const edited = (node: Node) => node.props.AB || node.props.AW || node.props.AE;
  let begun = line.findIndex((node) => moveOf(node, ...size));
  if (begun < 0) begun = line.length;
  const start = line.slice(0, begun).filter(edited).pop() ?? root;
  const setup = boardAt(start);
  const first = moveOf(line[begun] ?? root, ...size)?.[0] ?? setup.turn;
  const handicap = Math.min(Math.max(Math.floor(number(root.props.HA?.[0])), 0), 99);
  const value: BoardValue = {
    size, rules, komi: number(root.props.KM?.[0]), handicap, stones: setup.stones, first: sideOf(first), moves: [], turn: sideOf(first),
  }; // prettier-ignore
  const board = boardOf(engine, value);
  let trouble = "";
  for (const node of line.slice(begun)) {
    const move = moveOf(node, ...size);
    if (edited(node)) trouble = t("editedHere");
    if (value.moves.length >= MOST_MOVES) throw new ApiError(`${file}: ${t("tooLong", { n: MOST_MOVES })}`, 422);
    if (trouble) break;
    if (!move) continue;
    const played: [Side, Index] = [sideOf(move[0]), indexOf(move[1], ...size)];
    const refused = board.verdict(played[1], played[0]);
    if (refused) {
      trouble = `${move[1]}: ${WHY_NOT[refused]}`;
      break;
    }
    board.push(played[1], played[0]);
    value.moves.push(played);
    value.turn = (3 - played[0]) as Side;
  }
  board.close();
  return [value, trouble];
}

/** Return what lists of games show. */
export function headline({ root, file, game }: GameOfFile, moves: number): GameRecord {
  const text = (key: string) => (root.props[key]?.[0] ?? "").trim().slice(0, LONGEST);
  return {
    file, game, black: text("PB"), white: text("PW"), black_rank: text("BR"), white_rank: text("WR"), event: text("EV"),
    date: text("DT"), result: /^\?|^$|^void/i.test(text("RE")) ? "" : text("RE"), size: sizeOf(root), komi: number(text("KM")),
    handicap: Math.floor(number(text("HA"))), rules: text("RU"), moves,
  }; // prettier-ignore
}

/** Return a game with all its positions. */
export function whole(engine: Engine, one: GameOfFile): WholeGame {
  const [value, trouble] = legalPart(engine, one);
  const remark = trouble && `reviewed up to move ${value.moves.length}: ${trouble}`;
  const board = boardOf(engine, { ...value, moves: [], turn: value.first });
  const positions = [positionOf(board)];
  for (const [side, move] of value.moves) {
    board.push(move, side);
    positions.push(positionOf(board));
  }
  board.close();
  const comments: Record<string, string> = {};
  let n = 0;
  for (const node of lineThrough(one.root)) {
    if (moveOf(node, ...value.size)) n++;
    const said = node.props.C?.[0]?.trim();
    if (said && n < positions.length) comments[n] = [comments[n], said].filter(Boolean).join("\n");
  }
  return { ...headline(one, value.moves.length), remark, scoring: value.rules.scoring, positions, line: namedMoves(value), comments };
}

/** Return the last position of an unfinished game, to be played on. */
export function unfinished(engine: Engine, one: GameOfFile): BoardValue {
  const [value, trouble] = legalPart(engine, one);
  if (trouble) throw new ApiError(`${one.file}, ${value.moves.length + 1}: ${trouble}`, 422);
  if (headline(one, 0).result) throw new ApiError(`${one.file}: ${t("alreadyFinished")}`, 422);
  return { ...value, rules: rulesNamed(one.root.props.RU?.[0] ?? "") };
}

/** Write a game as SGF with some properties of its root. */
export function gameToSgf({ size, rules, komi, handicap, stones, first, moves, turn }: BoardValue, more: Record<string, string[]>): string {
  const [rows, cols] = size;
  const side = moves[0]?.[0] ?? first ?? turn;
  const root = newNode(null, {
    GM: ["1"], FF: ["4"], CA: ["UTF-8"], AP: ["tengen"], SZ: [rows === cols ? String(rows) : `${cols}:${rows}`],
    KM: [String(komi)], RU: [nameOfRules(rules)], ...Object.fromEntries(Object.entries(more).filter(([, [text]]) => text)),
  }); // prettier-ignore
  if (handicap) root.props.HA = [String(handicap)];
  const at = (letter: string) =>
    stones.flatMap((row, y) => [...row].flatMap((c, x) => (c === letter ? [String.fromCharCode(97 + x, 97 + y)] : [])));
  const [black, white] = [at("X"), at("O")];
  if (black.length) root.props.AB = black;
  if (white.length) root.props.AW = white;
  if (black.length || white.length) root.props.PL = [side === BLACK ? "B" : "W"];
  let node = root;
  for (const [colour, vertex] of namedMoves({ moves, size } as BoardValue)) node = newNode(node, { [colour]: [toSgf(vertex, rows)] });
  return write(root);
}

/** Return a name for a text that differs for every other text. */
export async function fingerprint(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest).slice(0, 12), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
