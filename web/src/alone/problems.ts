// Problems from mistakes and files: a solved one comes back after ever longer pauses (`web/store.py`).

import { ApiError, type BoardState, type Colour } from "../api";
import type { Engine } from "../engine/memory";
import { REVIEW } from "../engine/kernels";
import type { Side } from "../engine/board";
import type { Workers } from "../engine/workers";
import { indexOf, vertexOf } from "../positions";
import { t } from "../i18n";
import { fingerprint, legalPart, type GameOfFile } from "./records";
import { reviewLast } from "./reviewing";
import { moveOf, write, type Node } from "../sgf";
import type { Store } from "./store";
import { illegalPoints, nameOf, positionOf, withBoard, WHY_NOT, type BoardValue } from "./values";

const { DAY, PAUSES, WORST, SOLVED, LEAST } = REVIEW.PROBLEMS;

export interface Problem {
  id: string;
  board: BoardValue;
  number: number;
  colour: Colour;
  /** The move that lost points; empty where there was none. */
  move: string;
  best: string;
  points_lost: number;
  answers?: string[];
  title?: string;
}

const LONGEST_TITLE = 80;

type Stored = Problem & { solved: number; due: number };

const seconds = () => Date.now() / 1000;

/** Return the mistakes that lost most, worst first; only the worst of each move number. */
export function worstLessons<L extends { number: number; points_lost: number }>(lessons: L[], most: number = WORST): L[] {
  const worst = new Map([...lessons].sort((a, b) => a.points_lost - b.points_lost).map((one) => [one.number, one]));
  return [...worst.values()].sort((a, b) => b.points_lost - a.points_lost).slice(0, most);
}

/** Keep the worst mistakes of a game as problems for the next day; return their ids. */
export function keepProblems(store: Store, game: string, lessons: Omit<Problem, "id">[], most?: number): Promise<string[]> {
  const chosen = worstLessons(lessons, most).map((one) => ({ ...one, id: `${game}-${one.number}-${one.move}` }));
  return addProblems(store, chosen, seconds() + DAY);
}

/** Add problems that are not there yet; return the ids of all. */
export async function addProblems(store: Store, problems: Problem[], due = seconds()): Promise<string[]> {
  for (const { id, board, number, colour, move, best, points_lost, answers, title } of problems) {
    if (await store.find("problem", id)) continue;
    await keep(store, { id, board, number, colour, move, best, points_lost, answers, title, solved: 0, due });
  }
  return problems.map(({ id }) => id);
}

function keep(store: Store, body: Stored): Promise<void> {
  const { number, colour, points_lost, solved, due, title, board } = body;
  return store.put("problem", body.id, { number, colour, points_lost, solved, due, title, size: board.size[0] }, body);
}

export async function listProblems(store: Store): Promise<{ due: number }[]> {
  return (await store.list<{ due: number }>("problem")).sort((a, b) => a.due - b.due);
}

export async function showProblem(store: Store, engine: Engine, id: string): Promise<BoardState & object> {
  const { board, number, move, points_lost, solved, due, title = "" } = await store.get<Stored>("problem", id);
  return withBoard(engine, board, (real) => ({
    id, number, move, points_lost, solved, due, title, ...positionOf(real), you: nameOf(real.turn), illegal: illegalPoints(real),
  })); // prettier-ignore
}

/** Judge an answer: it solves the problem if it loses far less than the move of the game. */
export async function answer(store: Store, engine: Engine, workers: Workers, id: string, vertex: string): Promise<object> {
  const body = await store.get<Stored>("problem", id);
  const { board } = body;
  const index = indexOf(vertex, ...board.size);
  const move = vertexOf(index, ...board.size);
  const refused = withBoard(engine, board, (real) => real.verdict(index));
  if (refused) throw new ApiError(`${move}: ${WHY_NOT[refused]}`, 422);
  let lost: number | null = null;
  if (!body.answers && move !== "pass") {
    const after = { ...board, moves: [...board.moves, [board.turn, index] as [Side, number]], turn: (3 - board.turn) as Side };
    lost = (await reviewLast(workers, after)).points_lost;
  }
  const solved = lost === null
    ? (body.answers ?? [body.best]).includes(move)
    : move === body.best || lost <= Math.max(body.points_lost / SOLVED, LEAST);
  const days = solved ? PAUSES[Math.min(body.solved, PAUSES.length - 1)]! : 1;
  const next = { ...body, solved: solved ? body.solved + 1 : 0, due: seconds() + days * DAY };
  await keep(store, next);
  return { solved, points_lost: lost, best: body.best, due: next.due };
}

export async function removeProblem(store: Store, id: string): Promise<void> {
  if (!(await store.find("problem", id))) throw new ApiError(t("notHere"), 404);
  await store.delete("problem", id);
}

const RIGHT = /\b(right|correct|richtig)\b|正解|正确|정해|정답/i;

/** Return a game that sets up stones and goes on with a solution as a problem; null if it is none. */
export async function problemOf(engine: Engine, one: GameOfFile): Promise<Problem | null> {
  const [board] = legalPart(engine, one);
  const [begun] = board.moves;
  if (!begun || board.stones.every((row) => !/[XO]/.test(row))) return null;
  const [rows, cols] = board.size;
  const right = ({ props }: Node) => !!props.TE || (RIGHT.test(props.C?.[0] ?? "") && !/not right/.test(props.C![0]!));
  const leads = (node: Node): boolean => right(node) || node.children.some(leads);
  const starts = (node: Node): Node[] => node.children.flatMap((child) => (moveOf(child, rows, cols) ? [child] : starts(child)));
  const moves = starts(one.root).filter((node) => moveOf(node, rows, cols)![0] === nameOf(begun[0]) && leads(node));
  const answers = [...new Set(moves.map((node) => moveOf(node, rows, cols)![1]))];
  if (!answers.length) answers.push(vertexOf(begun[1], rows, cols));
  const { GN, EV } = one.root.props;
  return {
    id: `own-${await fingerprint(write(one.root))}`, board: { ...board, moves: [], first: begun[0], turn: begun[0] }, number: 0,
    colour: nameOf(begun[0]), move: "", best: answers[0]!, answers, points_lost: 0,
    title: (GN?.[0] || EV?.[0] || `${one.file}, ${one.game}`).trim().slice(0, LONGEST_TITLE),
  }; // prettier-ignore
}
