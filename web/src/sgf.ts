// A tree of moves that can be edited, read from SGF and written as SGF.

import type { BoardState, Colour } from "./api";
import { toVertex, toXY } from "./points";
import { afterAll, blank, type Move } from "./positions";

/** The names of rules that allow suicide. */
const ALLOW = /^\s*(nz|new[ _-]zealand|goe|ing|tt|tromp[ _-]taylor)\s*$/i;

export interface Node {
  props: Record<string, string[]>;
  parent: Node | null;
  children: Node[];
}

export function newNode(parent: Node | null, props: Node["props"] = {}): Node {
  const node: Node = { props, parent, children: [] };
  parent?.children.push(node);
  return node;
}

export function newTree(size: number): Node {
  return newNode(null, { GM: ["1"], FF: ["4"], CA: ["UTF-8"], AP: ["tengen"], SZ: [String(size)], KM: ["7.5"] });
}

/** Read all games of a text; throws where there is none. */
export function parseAll(text: string): Node[] {
  const roots: Node[] = [];
  let current: Node | null = null;
  const branches: (Node | null)[] = [];
  let name = "";
  const start = text.search(/\(\s*;/);
  for (let i = Math.max(start, 0); start >= 0 && i < text.length; i++) {
    const c = text[i]!;
    if (c === "(") {
      branches.push(current);
    } else if (c === ")") {
      current = branches.pop() ?? null;
    } else if (c === ";") {
      if (!branches.length) continue; // between games
      const node = newNode(current);
      if (!current) roots.push(node);
      current = node;
      name = "";
    } else if (/[A-Za-z]/.test(c)) {
      name = /[\[\]\s;()]/.test(text[i - 1] ?? "") ? c : name + c;
    } else if (c === "[") {
      let value = "";
      for (i++; i < text.length && text[i] !== "]"; i++) {
        if (text[i] === "\\") i++;
        value += text[i] ?? "";
      }
      const key = name.replace(/[a-z]/g, "");
      if (current && key) (current.props[key] ??= []).push(value);
    }
  }
  if (!roots.length) throw new Error("SGF");
  return roots;
}

/** Read the first game of a text; throws where there is none. */
export function parse(text: string): Node {
  return parseAll(text)[0]!;
}

/** Read a board in characters, X black and O white, with or without coordinates; null if it is none. */
export function parseBoard(text: string): Node | null {
  const rows: string[] = [];
  for (const line of text.split(/\r?\n/)) {
    const found = /^\s*\d{0,2}\s*\|?\s*((?:[.+,*XxOo#]\s*){2,25}?)\|?\s*\d{0,2}\s*$/.exec(line);
    if (found) rows.push(found[1]!.replace(/\s/g, ""));
  }
  const cols = rows[0]?.length ?? 0;
  if (rows.length < 2 || rows.length > 25 || rows.some((row) => row.length !== cols)) return null;
  const root = newTree(cols);
  if (rows.length !== cols) root.props.SZ = [`${cols}:${rows.length}`];
  setUp(root, rows);
  return root;
}

/** Put the stones of a position into a node. */
function setUp(node: Node, rows: string[]): void {
  for (const [key, letters] of [["AB", "Xx#"], ["AW", "Oo"]] as const) {
    const found = rows.flatMap((row, y) =>
      [...row].flatMap((c, x) => (letters.includes(c) ? [String.fromCharCode(97 + x, 97 + y)] : [])),
    );
    if (found.length) node.props[key] = found;
  }
}

/** Return the position at a node as a game of its own, with the marks and the comment there. */
export function positionAt(node: Node): Node {
  const root = pathTo(node)[0]!;
  const state = boardAt(node);
  const { SZ = ["19"], KM, RU, PB, PW } = root.props;
  const kept = Object.fromEntries(Object.entries({ KM, RU, PB, PW }).filter(([, values]) => values?.length));
  const made = newNode(null, { GM: ["1"], FF: ["4"], CA: ["UTF-8"], SZ, ...(kept as Node["props"]) });
  setUp(made, state.stones);
  made.props.PL = [state.turn === "black" ? "B" : "W"];
  for (const key of ["C", "LB", "AR", "LN", ...MARKS]) {
    if (node.props[key]) made.props[key] = [...node.props[key]!];
  }
  return made;
}

export function write(root: Node): string {
  const escaped = (value: string) => value.replace(/[\\\]]/g, "\\$&");
  const parts: string[] = [];
  const visit = (start: Node) => {
    parts.push("(");
    let node: Node | undefined = start;
    while (node) {
      parts.push(";");
      for (const [key, values] of Object.entries(node.props)) {
        if (values.length) parts.push(key, ...values.map((value) => `[${escaped(value)}]`));
      }
      if (node.children.length > 1) {
        node.children.forEach(visit);
        break;
      }
      node = node.children[0];
    }
    parts.push(")");
  };
  visit(root);
  return `${parts.join("")}\n`;
}

/** Return rows and columns of a tree's board. */
/** Return the size of a game's board, or null if there is no such board. */
export function knownSize(root: Node): [rows: number, cols: number] | null {
  const [cols, rows = cols] = (root.props.SZ?.[0] || "19").split(":").map(Number);
  const fits = (n: number | undefined) => Number.isInteger(n) && n! >= 2 && n! <= 25;
  return fits(cols) && fits(rows) ? [rows!, cols!] : null;
}

export function sizeOf(root: Node): [rows: number, cols: number] {
  return knownSize(root) ?? [19, 19];
}

export function toSgf(vertex: string, rows: number): string {
  const point = toXY(vertex, rows);
  return point ? point.map((n) => String.fromCharCode(97 + n)).join("") : "";
}

function fromSgf(value: string, rows: number, cols: number): string {
  const [x, y] = [value.charCodeAt(0) - 97, value.charCodeAt(1) - 97];
  return value.length === 2 && x >= 0 && x < cols && y >= 0 && y < rows ? toVertex([x, y], rows) : "pass";
}

/** Return the points of a list, in which AB may stand for a rectangle. */
function points(values: string[]): string[] {
  return values.flatMap((value) => {
    const [from, to] = value.split(":");
    if (!to) return [value];
    const found: string[] = [];
    for (let x = from!.charCodeAt(0); x <= to.charCodeAt(0); x++) {
      for (let y = from!.charCodeAt(1); y <= to.charCodeAt(1); y++) found.push(String.fromCharCode(x, y));
    }
    return found;
  });
}

export function moveOf(node: Node, rows: number, cols: number): [Colour, string] | null {
  if (node.props.B) return ["black", fromSgf(node.props.B[0]!, rows, cols)];
  if (node.props.W) return ["white", fromSgf(node.props.W[0]!, rows, cols)];
  return null;
}

export function pathTo(node: Node): Node[] {
  const path: Node[] = [];
  for (let at: Node | null = node; at; at = at.parent) path.unshift(at);
  return path;
}

/** Return the line through a node: to it, and from there along the first variations. */
export function lineThrough(node: Node): Node[] {
  const line = pathTo(node);
  for (let at = node.children[0]; at; at = at.children[0]) line.push(at);
  return line;
}

/** Return the board at a node; a move that cannot be played changes nothing but the turn. */
export function boardAt(node: Node): BoardState {
  const path = pathTo(node);
  const [rows, cols] = sizeOf(path[0]!);
  let state: BoardState = { ...blank(rows, cols), suicide: ALLOW.test(path[0]!.props.RU?.[0] ?? "") };
  let line: Move[] = []; // moves since stones or the turn were set
  for (const { props } of path) {
    const edits = props.AB || props.AW || props.AE;
    if (edits || props.PL) {
      state = afterAll(state, line);
      line = [];
    }
    if (edits) {
      const grid = state.stones.map((row) => [...row]);
      for (const [key, stone] of [["AB", "X"], ["AW", "O"], ["AE", "."]] as const) {
        for (const value of points(props[key] ?? [])) {
          const point = toXY(fromSgf(value, rows, cols), rows);
          if (point) grid[point[1]]![point[0]] = stone;
        }
      }
      const handicap = !props.AW && (props.AB?.length ?? 0) > 1;
      state = { ...state, stones: grid.map((row) => row.join("")), turn: handicap ? "white" : state.turn };
    }
    if (props.PL) state = { ...state, turn: /^[Ww]/.test(props.PL[0]!) ? "white" : "black" };
    const move = moveOf({ props, parent: null, children: [] }, rows, cols);
    if (move) line.push([move[0] === "black" ? "B" : "W", move[1]]);
  }
  return afterAll(state, line);
}

/** Play a move after a node: go to the child that has it, or add one. */
export function addMove(node: Node, turn: Colour, vertex: string): Node {
  const rows = sizeOf(pathTo(node)[0]!)[0];
  const key = turn === "black" ? "B" : "W";
  const value = toSgf(vertex, rows);
  return node.children.find((child) => child.props[key]?.[0] === value) ?? newNode(node, { [key]: [value] });
}

/** Put a stone down or take it away, at a node without a move or in a new one after it. */
export function editStone(node: Node, vertex: string, stone: "AB" | "AW" | "AE"): Node {
  const rows = sizeOf(pathTo(node)[0]!)[0];
  const edited = node.props.B || node.props.W || node.children.length ? newNode(node) : node;
  const value = toSgf(vertex, rows);
  for (const key of ["AB", "AW", "AE"]) {
    const left = points(edited.props[key] ?? []).filter((one) => one !== value);
    if (left.length) edited.props[key] = left;
    else delete edited.props[key];
  }
  (edited.props[stone] ??= []).push(value);
  return edited;
}

/** Properties that mark points: triangle, circle, square, cross. */
export const MARKS = ["TR", "CR", "SQ", "MA"] as const;
export type Mark = (typeof MARKS)[number];

export interface Markup {
  shapes: [vertex: string, mark: Mark][];
  labels: [vertex: string, text: string][];
  lines: [from: string, to: string, kind: "AR" | "LN"][];
}

/** Return the marks, labels, arrows and lines of a node. */
export function markupOf(node: Node, rows: number, cols: number): Markup {
  const name = (value: string) => fromSgf(value, rows, cols);
  const split = (value: string): [string, string] => [name(value.slice(0, 2)), value.slice(3)];
  return {
    shapes: MARKS.flatMap((mark) => points(node.props[mark] ?? []).map((one): [string, Mark] => [name(one), mark])),
    labels: (node.props.LB ?? []).map(split),
    lines: (["AR", "LN"] as const).flatMap((kind) =>
      (node.props[kind] ?? []).map((value): [string, string, "AR" | "LN"] => {
        const [from, to] = split(value);
        return [from, name(to), kind];
      }),
    ),
  };
}

/** Add a value to a property of a node, or take it away if it is there. */
function toggle(node: Node, key: string, value: string): boolean {
  const values = node.props[key] ?? [];
  const rest = values.filter((one) => one !== value);
  if (rest.length === values.length) rest.push(value);
  if (rest.length) node.props[key] = rest;
  else delete node.props[key];
  return rest.length > values.length;
}

/** Mark a point with a shape, or take that shape away; other marks of the point go. */
export function toggleMark(node: Node, vertex: string, mark: Mark): void {
  const value = toSgf(vertex, sizeOf(pathTo(node)[0]!)[0]);
  const there = node.props[mark]?.includes(value);
  clearMarks(node, value);
  if (!there) toggle(node, mark, value);
}

/** Label a point with the next free letter, or take its label away. */
export function toggleLabel(node: Node, vertex: string): void {
  const value = toSgf(vertex, sizeOf(pathTo(node)[0]!)[0]);
  const there = node.props.LB?.some((one) => one.startsWith(`${value}:`));
  clearMarks(node, value);
  if (there) return;
  const used = new Set(node.props.LB?.map((one) => one.slice(3)));
  const letter = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"].find((one) => !used.has(one)) ?? "?";
  (node.props.LB ??= []).push(`${value}:${letter}`);
}

/** Draw an arrow or a line between two points, or take it away. */
export function toggleLine(node: Node, from: string, to: string, kind: "AR" | "LN"): void {
  const rows = sizeOf(pathTo(node)[0]!)[0];
  toggle(node, kind, `${toSgf(from, rows)}:${toSgf(to, rows)}`);
}

function clearMarks(node: Node, value: string): void {
  for (const key of ["LB", ...MARKS]) {
    const rest = markedBy(node, key).filter((one) => one.slice(0, 2) !== value);
    if (rest.length) node.props[key] = rest;
    else delete node.props[key];
  }
}

/** Return the values of marks, with rectangles taken apart. */
function markedBy(node: Node, key: string): string[] {
  const values = node.props[key] ?? [];
  return key === "LB" ? values : points(values);
}

/** Remove a node with all that follows; return its parent. */
export function removeNode(node: Node): Node {
  const parent = node.parent!;
  parent.children = parent.children.filter((child) => child !== node);
  return parent;
}

/** Make the line to a node the first one everywhere. */
export function promote(node: Node): void {
  for (let at = node; at.parent; at = at.parent) {
    const rest = at.parent.children.filter((child) => child !== at);
    at.parent.children = [at, ...rest];
  }
}
