// A board for variations: play, edit, comment, search, paste and save as SGF; works offline.

import { useEffect, useReducer, useState } from "preact/hooks";
import type { Marker } from "@sabaki/shudan";
import { api, type WholeGame } from "./api";
import { Board, BoardText } from "./board";
import { discsOf, Hints } from "./hints";
import { store, stored, t } from "./i18n";
import { Choice, Drop, EstimateWords, Scrubber, SIZES, Tick, useKeys, useSteps } from "./parts";
import { inRows, unpacked } from "./points";
import { addMove, boardAt, editStone, lineThrough, moveOf, newTree, parse, pathTo, promote, removeNode, sizeOf, write, type Node } from "./sgf";
import { knock } from "./sound";
import { announce, complain } from "./status";
import { Tree } from "./tree";
import { useAnalysis, useEstimate } from "./variation";

const KEY = "study";

/** Open a game in SGF on the page of variations. */
export function openStudy(text: string): void {
  try {
    parse(text);
  } catch {
    complain(t("notSgf"));
    return;
  }
  store(KEY, text);
  if (location.hash === "#/study") dispatchEvent(new Event("study"));
  else location.hash = "#/study";
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

type Tool = "play" | "AB" | "AW" | "AE";

function load(): Node {
  try {
    return parse(stored(KEY, ""));
  } catch {
    return newTree(19);
  }
}

export function Study() {
  const [root, setRoot] = useState(load);
  const [node, setNode] = useState<Node>(root);
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  const [tool, setTool] = useState<Tool>("play");
  const [searching, setSearching] = useState(false);
  const [estimating, setEstimating] = useState(false);
  const [pasted, setPasted] = useState("");
  useEffect(() => {
    const follow = () => {
      const tree = load();
      setRoot(tree);
      setNode(tree);
    };
    addEventListener("study", follow);
    return () => removeEventListener("study", follow);
  }, []);
  const changed = (next: Node, tree = root) => {
    store(KEY, write(tree));
    setNode(next);
    redraw(0);
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
    else return false;
    return true;
  });
  const komi = Number(root.props.KM?.[0] ?? 7.5) || 0;
  const position = { stones: state.stones, turn: state.turn, komi };
  const hint = useAnalysis(searching ? position : null, 200);
  const estimate = useEstimate(estimating ? position : null);

  const onPoint = (vertex: string) => {
    if (tool !== "play") {
      changed(editStone(node, vertex, tool));
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
    setRoot(tree);
    changed(tree, tree);
  };
  const save = () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([write(root)], { type: "application/x-go-sgf" }));
    link.download = "study.sgf";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  const marks: Record<string, Marker> = {};
  if (node.children.length > 1) {
    node.children.forEach((child, i) => {
      const move = moveOf(child, rows, cols);
      if (move) marks[move[1]] = { type: "label", label: "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i] };
    });
  }
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
          discs={discs}
          paint={estimating && estimate?.ownership ? inRows(unpacked(estimate.ownership), cols) : null}
        />
        <Scrubber {...steps} />
      </div>
      <div class="side">
        <h1>{t("study")}</h1>
        <p class="meta">
          {[root.props.PB?.[0], root.props.PW?.[0]].filter(Boolean).join(" – ")}{" "}
          {t("toMove", { colour: t(state.turn) })}
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
        <div class="toggles">
          <Tick checked={searching} onChange={setSearching} text={t("askNetwork")} />
          <Tick checked={estimating} onChange={setEstimating} text={t("estimate")} />
        </div>
        {estimating && <EstimateWords estimate={estimate} />}
        {searching && (hint ? <Hints hint={hint} turn={state.turn} /> : <p class="note">{t("thinking")}</p>)}
        <div class="actions">
          <button class="primary" onClick={save}>
            {t("saveSgf")}
          </button>
        </div>
        <Drop onFiles={(files) => files[0] && void openFile(files[0])}>{t("dropToStudy")}</Drop>
        <details>
          <summary>{t("pasteSgf")}</summary>
          <label class="field">
            SGF
            <textarea rows={4} value={pasted} onInput={(e) => setPasted(e.currentTarget.value)} />
          </label>
          <div class="actions">
            <button disabled={!pasted.trim()} onClick={() => openStudy(pasted)}>
              {t("open")}
            </button>
          </div>
        </details>
        <Choice legend={t("emptyBoard")} name="empty" value={0} options={SIZES} onChange={begin} />
        <BoardText stones={state.stones} />
      </div>
    </main>
  );
}
