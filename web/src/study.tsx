// A board for variations: play, edit, comment, mark, search, share and save as SGF; works offline.

import { useEffect, useReducer, useRef, useState } from "preact/hooks";
import type { Marker } from "@sabaki/shudan";
import { api, type WholeGame } from "./api";
import { Board, BoardText } from "./board";
import { discsOf, Hints } from "./hints";
import { store, stored, t, type Key } from "./i18n";
import { Choice, Drop, EstimateWords, saveAs, Scrubber, SizeChoice, Tick, useKeys, useSteps } from "./parts";
import { inRows, unpacked } from "./points";
import {
  addMove, boardAt, editStone, lineThrough, markupOf, moveOf, newTree, parseAll, parseBoard, pathTo, positionAt, promote,
  removeNode, sizeOf, toggleLabel, toggleLine, toggleMark, write, type Mark, type Markup, type Node,
} from "./sgf";
import { packed, picture, unpackedText } from "./share";
import { knock } from "./sound";
import { announce, complain } from "./status";
import { Tree } from "./tree";
import { useAnalysis, useEstimate } from "./variation";

const KEY = "study";

/** Open games in SGF, or a board in characters, on the page of variations. */
export function openStudy(text: string): void {
  let games: string;
  try {
    games = parseAll(text).map(write).join("");
  } catch {
    const board = parseBoard(text);
    if (!board) {
      complain(t("notSgf"));
      return;
    }
    games = write(board);
  }
  store(KEY, games);
  const shown = location.hash.startsWith("#/study");
  location.hash = "#/study";
  if (shown) dispatchEvent(new Event("study"));
}

/** Open a file, SGF or another format that the server reads. */
export async function openFile(file: File): Promise<void> {
  const data = await file.arrayBuffer();
  const plain = new TextDecoder().decode(data);
  if (/\(\s*;/.test(plain)) {
    const label = /CA\[([^\]]*)\]/.exec(plain)?.[1] ?? "utf-8";
    try {
      openStudy(new TextDecoder(label).decode(data));
    } catch {
      openStudy(plain);
    }
    return;
  }
  try {
    const query = new URLSearchParams({ name: file.name });
    const game = await api<WholeGame>(`/records?${query}`, { body: file });
    const root = newTree(game.size[0]);
    let node = root;
    for (const [colour, vertex] of game.line) {
      node = addMove(node, colour === "B" ? "black" : "white", vertex);
    }
    openStudy(write(root));
  } catch (problem) {
    complain(problem);
  }
}

type Tool = "play" | "AB" | "AW" | "AE" | "LB" | Mark | "AR" | "LN";

const SHAPES: Record<Mark, Marker["type"]> = { TR: "triangle", CR: "circle", SQ: "square", MA: "cross" };
const INFORMATION: [property: string, text: Key][] = [
  ["PB", "nameOfBlack"],
  ["BR", "blackRank"],
  ["PW", "nameOfWhite"],
  ["WR", "whiteRank"],
  ["EV", "event"],
  ["DT", "date"],
  ["KM", "komi"],
  ["HA", "handicap"],
  ["RU", "rules"],
  ["RE", "result"],
];
const VISITS = 1000; // most positions that are looked at for one that stays on the board
const KEPT = 50; // changes that can be undone

function load(): Node[] {
  try {
    return parseAll(stored(KEY, ""));
  } catch {
    return [newTree(19)];
  }
}

/** Return the way to a node as numbers of children, to find it again in another copy. */
function placeOf(node: Node): number[] {
  return pathTo(node).flatMap((one) => (one.parent ? [one.parent.children.indexOf(one)] : []));
}

/** Name a game of a collection. */
function titleOf(root: Node, n: number): string {
  const players = [root.props.PB?.[0], root.props.PW?.[0]].filter(Boolean).join(" – ");
  return [`${n + 1}.`, players || root.props.GN?.[0], root.props.DT?.[0]].filter(Boolean).join(" ");
}

export function Study({ code }: { code: string }) {
  const [games, setGames] = useState(load);
  const [node, setNode] = useState<Node>(games[0]!);
  const root = pathTo(node)[0]!;
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  const [tool, setTool] = useState<Tool>("play");
  const [from, setFrom] = useState<string | null>(null);
  const [searching, setSearching] = useState(() => stored("searching", "off") === "on");
  const [estimating, setEstimating] = useState(false);
  const [pasted, setPasted] = useState("");
  const [link, setLink] = useState("");
  const before = useRef<[text: string, game: number, place: number[]][]>([]);
  const written = useRef(games.map(write).join(""));
  const show = (trees: Node[], game = 0, place: number[] = []) => {
    written.current = trees.map(write).join("");
    setGames(trees);
    setNode(place.reduce((at, n) => at.children[n] ?? at, trees[game] ?? trees[0]!));
  };
  useEffect(() => {
    const follow = () => {
      before.current.push([written.current, 0, []]); // what was there can be brought back
      show(load());
    };
    addEventListener("study", follow);
    return () => removeEventListener("study", follow);
  }, []);
  useEffect(() => {
    if (code) unpackedText(code).then(openStudy, () => complain(t("notSgf")));
  }, [code]);
  useEffect(() => {
    setFrom(null);
    setLink("");
  }, [node, tool]);
  const changed = (next: Node, trees = games) => {
    before.current.push([written.current, Math.max(games.indexOf(root), 0), placeOf(node)]);
    before.current.splice(0, before.current.length - KEPT);
    written.current = trees.map(write).join("");
    store(KEY, written.current);
    setGames(trees);
    setNode(next);
    setLink("");
    redraw(0);
  };
  const undo = () => {
    const last = before.current.pop();
    if (!last) return;
    store(KEY, last[0]);
    show(parseAll(last[0]), last[1], last[2]);
  };
  const [rows, cols] = sizeOf(root);
  const state = boardAt(node);
  const line = lineThrough(node);
  const at = pathTo(node).length - 1;
  const steps = {
    at,
    length: line.length - 1,
    go: (number: number) => {
      const next = line[Math.min(Math.max(number, 0), line.length - 1)]!;
      setNode(next);
      const move = moveOf(next, rows, cols);
      announce(move ? `${t(move[0])} ${move[1]}` : t("firstPosition"));
    },
  };
  useSteps(steps);
  const sibling = (by: number) => {
    const all = node.parent?.children ?? [];
    const next = all[(all.indexOf(node) + by + all.length) % all.length];
    if (next) setNode(next);
  };
  useKeys((key) => {
    if (key === "ArrowUp") sibling(-1);
    else if (key === "ArrowDown") sibling(1);
    else if (key === "Delete" && node.parent) changed(removeNode(node));
    else if (key === "u") undo();
    else return false;
    return true;
  });
  const komi = Number(root.props.KM?.[0] ?? 7.5) || 0;
  const position = { stones: state.stones, turn: state.turn, komi };
  const hint = useAnalysis(searching ? position : null, VISITS);
  const estimate = useEstimate(estimating ? position : null);

  const draw = (vertex: string) => {
    if (tool === "LB") toggleLabel(node, vertex);
    else if (tool !== "AR" && tool !== "LN") toggleMark(node, vertex, tool as Mark);
    else if (from === null || from === vertex) {
      setFrom(from === null ? vertex : null);
      return;
    } else {
      toggleLine(node, from, vertex, tool);
      setFrom(null);
    }
    changed(node);
  };
  const onPoint = (vertex: string) => {
    if (tool === "AB" || tool === "AW" || tool === "AE") {
      changed(editStone(node, vertex, tool));
      return;
    }
    if (tool !== "play") {
      draw(vertex);
      return;
    }
    const next = addMove(node, state.turn, vertex);
    const before = JSON.stringify(state.stones);
    if (JSON.stringify(boardAt(next).stones) === before) {
      if (!next.children.length) removeNode(next);
      announce(t("cannotPlay", { move: vertex }));
      return;
    }
    knock();
    changed(next);
  };
  const begin = (size: number) => {
    const tree = newTree(size);
    changed(tree, [tree]);
  };
  const inform = (property: string, value: string) => {
    if (value) root.props[property] = [value];
    else delete root.props[property];
    changed(node);
  };
  const markup = markupOf(node, rows, cols);
  const share = async () => {
    const address = `${location.href.split("#")[0]}#/study/${await packed(write(positionAt(node)))}`;
    setLink(address);
    await navigator.clipboard?.writeText(address).then(() => announce(t("linkCopied")), () => {});
  };
  const marks = marksOf(markup, node, rows, cols);
  const discs = discsOf(hint);
  return (
    <main class="table">
      <div class="board-column with-scrubber">
        <Board
          stones={state.stones}
          label={t("studyKeys")}
          last={state.last}
          hover={tool === "AB" ? "black" : tool === "AW" ? "white" : tool === "play" ? state.turn : null}
          onPoint={onPoint}
          marks={marks}
          lines={markup.lines.map(([a, b, kind]) => [a, b, kind === "AR" ? "arrow" : "line"])}
          selected={from}
          discs={discs}
          paint={estimating && estimate?.ownership ? inRows(unpacked(estimate.ownership), cols) : null}
        />
        <Scrubber {...steps} />
      </div>
      <div class="side">
        <h1>{t("study")}</h1>
        {games.length > 1 && (
          <label class="field">
            {t("gameOf", { n: games.length })}
            <select value={games.indexOf(root)} onChange={(e) => setNode(games[Number(e.currentTarget.value)]!)}>
              {games.map((game, n) => (
                <option key={n} value={n}>
                  {titleOf(game, n)}
                </option>
              ))}
            </select>
          </label>
        )}
        <p class="meta">
          {[[root.props.PB?.[0], root.props.PW?.[0]].filter(Boolean).join(" – "), t("toMove", { colour: t(state.turn) })]
            .filter(Boolean)
            .join(" · ")}
        </p>
        <Tree root={root} current={node} go={setNode} />
        <label class="field">
          {t("comment")}
          <textarea
            rows={3}
            value={node.props.C?.[0] ?? ""}
            onInput={(e) => {
              const text = e.currentTarget.value;
              if (text) node.props.C = [text];
              else delete node.props.C;
              changed(node);
            }}
          />
        </label>
        <div class="actions">
          <button onClick={() => changed(addMove(node, state.turn, "pass"))}>{t("pass")}</button>
          <button
            disabled={!node.parent}
            onClick={() => {
              promote(node);
              changed(node);
            }}
          >
            {t("makeMain")}
          </button>
          <button disabled={!node.parent} onClick={() => changed(removeNode(node))}>
            {t("deleteBranch")}
          </button>
          <button disabled={!before.current.length} onClick={undo}>
            {t("undoChange")}
          </button>
        </div>
        <Choice
          legend={t("aClick")}
          name="tool"
          value={tool}
          options={[
            ["play", t("plays")],
            ["AB", t("black")],
            ["AW", t("white")],
            ["AE", t("clears")],
          ]}
          onChange={setTool}
        />
        <Choice
          legend={t("orMarks")}
          name="tool"
          value={tool}
          options={[
            ["LB", "A", t("markLabel")],
            ["TR", "△", t("markTriangle")],
            ["CR", "○", t("markCircle")],
            ["SQ", "□", t("markSquare")],
            ["MA", "✕", t("markCross")],
            ["AR", "→", t("markArrow")],
            ["LN", "─", t("markLine")],
          ]}
          onChange={setTool}
        />
        <div class="toggles">
          <Tick
            checked={searching}
            onChange={(on) => {
              setSearching(on);
              store("searching", on ? "on" : "off");
            }}
            text={t("askNetwork")}
          />
          <Tick checked={estimating} onChange={setEstimating} text={t("estimate")} />
        </div>
        {estimating && <EstimateWords estimate={estimate} />}
        {searching && (hint ? <Hints hint={hint} turn={state.turn} /> : <p class="note">{t("thinking")}</p>)}
        <div class="actions">
          <button
            class="primary"
            onClick={() => saveAs("study.sgf", new Blob([games.map(write).join("")], { type: "application/x-go-sgf" }))}
          >
            {t("saveSgf")}
          </button>
          <button onClick={() => void share().catch(complain)}>{t("shareLink")}</button>
          <button onClick={() => void picture(state, markup).then((png) => saveAs("position.png", png), complain)}>
            {t("savePicture")}
          </button>
        </div>
        {link && (
          <label class="field">
            {t("linkToPosition")}
            <input readOnly value={link} onFocus={(e) => e.currentTarget.select()} />
          </label>
        )}
        <details>
          <summary>{t("gameInformation")}</summary>
          <div class="fields">
            {INFORMATION.map(([property, text]) => (
              <label key={property} class="field">
                {t(text)}
                <input value={root.props[property]?.[0] ?? ""} onInput={(e) => inform(property, e.currentTarget.value)} />
              </label>
            ))}
          </div>
        </details>
        <Drop onFiles={(files) => files[0] && void openFile(files[0])}>{t("dropToStudy")}</Drop>
        <details>
          <summary>{t("pasteSgf")}</summary>
          <label class="field">
            {t("sgfOrBoard")}
            <textarea rows={4} value={pasted} onInput={(e) => setPasted(e.currentTarget.value)} />
          </label>
          <div class="actions">
            <button disabled={!pasted.trim()} onClick={() => openStudy(pasted)}>
              {t("open")}
            </button>
          </div>
        </details>
        <SizeChoice legend={t("emptyBoard")} name="empty" value={0} onChange={begin} />
        <BoardText stones={state.stones} />
      </div>
    </main>
  );
}

/** Return the marks of a node, and letters for its variations where nothing else stands. */
function marksOf(markup: Markup, node: Node, rows: number, cols: number): Record<string, Marker> {
  const marks: Record<string, Marker> = {};
  if (node.children.length > 1) {
    node.children.forEach((child, i) => {
      const move = moveOf(child, rows, cols);
      if (move) marks[move[1]] = { type: "label", label: "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i] };
    });
  }
  for (const [vertex, mark] of markup.shapes) marks[vertex] = { type: SHAPES[mark] };
  for (const [vertex, label] of markup.labels) marks[vertex] = { type: "label", label };
  return marks;
}
