// A position to share: its SGF in an address, and a picture of the board.

import type { BoardState } from "./api";
import type { Markup } from "./sgf";
import { toVertex, toXY } from "./points";

async function through(data: Uint8Array, stream: TransformStream): Promise<Uint8Array> {
  const packed = new Blob([data as BlobPart]).stream().pipeThrough(stream);
  return new Uint8Array(await new Response(packed).arrayBuffer());
}

/** Pack a text into the characters of an address. */
export async function packed(text: string): Promise<string> {
  const bytes = await through(new TextEncoder().encode(text), new CompressionStream("deflate-raw"));
  return btoa(String.fromCharCode(...bytes)).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

/** Return the text of an address that `packed` made; throws for any other. */
export async function unpackedText(code: string): Promise<string> {
  const letters = atob(code.replace(/-/g, "+").replace(/_/g, "/"));
  const bytes = Uint8Array.from(letters, (c) => c.charCodeAt(0));
  return new TextDecoder().decode(await through(bytes, new DecompressionStream("deflate-raw")));
}

const POINT = 48; // pixels between two lines
const EDGE = 1.4; // points around the board, for the coordinates

/** Draw a position with its marks as a PNG. */
export async function picture({ stones, last }: BoardState, markup: Markup): Promise<Blob> {
  const [rows, cols] = [stones.length, stones[0]!.length];
  const canvas = document.createElement("canvas");
  canvas.width = POINT * (cols - 1 + 2 * EDGE);
  canvas.height = POINT * (rows - 1 + 2 * EDGE);
  const c = canvas.getContext("2d")!;
  c.scale(POINT, POINT);
  c.fillStyle = "#e2bd7c";
  c.fillRect(0, 0, canvas.width, canvas.height);
  c.translate(EDGE, EDGE);
  c.strokeStyle = c.fillStyle = "#4a3712";
  c.lineWidth = 0.03;
  c.textAlign = "center";
  c.textBaseline = "middle";
  c.font = "0.42px sans-serif";
  for (let x = 0; x < cols; x++) {
    line(c, x, 0, x, rows - 1);
    for (const y of [-0.9, rows - 0.1]) c.fillText(toVertex([x, 0], 1)[0]!, x, y);
  }
  for (let y = 0; y < rows; y++) {
    line(c, 0, y, cols - 1, y);
    for (const x of [-0.95, cols - 0.05]) c.fillText(String(rows - y), x, y);
  }
  for (const [y, row] of stones.entries()) {
    for (const [x, stone] of [...row].entries()) if (stone !== ".") disc(c, x, y, stone === "X");
  }
  const ink = (x: number, y: number) => (stones[y]![x] === "X" ? "#fff" : "#111");
  const place = (vertex: string) => toXY(vertex, rows);
  const at = last && place(last);
  if (at) ring(c, at[0], at[1], ink(...at));
  for (const [vertex, mark] of markup.shapes) {
    const point = place(vertex);
    if (point) shape(c, ...point, mark, ink(...point));
  }
  c.font = "bold 0.5px sans-serif";
  for (const [vertex, text] of markup.labels) {
    const point = place(vertex);
    if (!point) continue;
    if (stones[point[1]]![point[0]] === ".") {
      c.fillStyle = "#e2bd7c";
      c.fillRect(point[0] - 0.35, point[1] - 0.35, 0.7, 0.7);
    }
    c.fillStyle = ink(...point);
    c.fillText(text, point[0], point[1], 0.8);
  }
  c.strokeStyle = "#1d4f9c";
  c.lineWidth = 0.08;
  for (const [from, to, kind] of markup.lines) {
    const [a, b] = [place(from), place(to)];
    if (!a || !b) continue;
    line(c, ...a, ...b);
    if (kind === "AR") {
      const angle = Math.atan2(b[1] - a[1], b[0] - a[0]);
      for (const turn of [2.6, -2.6]) line(c, ...b, b[0] + 0.4 * Math.cos(angle + turn), b[1] + 0.4 * Math.sin(angle + turn));
    }
  }
  return new Promise((done, fail) => canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error("PNG")))));
}

function line(c: CanvasRenderingContext2D, x1: number, y1: number, x2: number, y2: number): void {
  c.beginPath();
  c.moveTo(x1, y1);
  c.lineTo(x2, y2);
  c.stroke();
}

function disc(c: CanvasRenderingContext2D, x: number, y: number, black: boolean): void {
  const shine = c.createRadialGradient(x - 0.15, y - 0.18, 0.05, x, y, 0.48);
  shine.addColorStop(0, black ? "#666" : "#fff");
  shine.addColorStop(1, black ? "#0d0d0d" : "#d3d3d0");
  c.fillStyle = shine;
  c.beginPath();
  c.arc(x, y, 0.47, 0, 2 * Math.PI);
  c.fill();
}

function ring(c: CanvasRenderingContext2D, x: number, y: number, colour: string): void {
  c.strokeStyle = colour;
  c.lineWidth = 0.06;
  c.beginPath();
  c.arc(x, y, 0.24, 0, 2 * Math.PI);
  c.stroke();
}

function shape(c: CanvasRenderingContext2D, x: number, y: number, mark: string, colour: string): void {
  if (mark === "CR") {
    ring(c, x, y, colour);
    return;
  }
  c.strokeStyle = colour;
  c.lineWidth = 0.06;
  c.beginPath();
  if (mark === "SQ") c.rect(x - 0.2, y - 0.2, 0.4, 0.4);
  else if (mark === "MA") {
    for (const side of [-1, 1]) {
      c.moveTo(x - 0.2, y - 0.2 * side);
      c.lineTo(x + 0.2, y + 0.2 * side);
    }
  } else {
    c.moveTo(x, y - 0.28);
    c.lineTo(x + 0.25, y + 0.17);
    c.lineTo(x - 0.25, y + 0.17);
    c.closePath();
  }
  c.stroke();
}
