// Score a finished position: dropped, or set up stone by stone; corrected by click.

import { useEffect, useState } from "preact/hooks";
import { api, type Count, type WholeGame } from "./api";
import { Board, BoardText } from "./board";
import { Choice } from "./parts";
import { asResult, paintOf, toXY } from "./points";
import { EMPTY, Picker, type Source } from "./source";
import { complain } from "./status";

interface Scored {
  dead: string[];
  seki: string[];
  safe: boolean;
  safe_probability: number | null;
  estimate: { score: number; spread: number; by: string } | null;
  blocks: { stones: string[]; status: string }[];
  territory: Count;
  area: Count;
}

type Tool = "correct" | "black" | "white" | "empty";

export function Score() {
  const [source, setSource] = useState<Source>(EMPTY);
  const [stones, setStones] = useState<string[]>(Array(9).fill(".".repeat(9)));
  const [komi, setKomi] = useState(7.5);
  const [captures, setCaptures] = useState<[number, number]>([0, 0]);
  const [turned, setTurned] = useState<Record<string, "dead" | "alive">>({});
  const [tool, setTool] = useState<Tool>("black");
  const [rules, setRules] = useState<"area" | "territory">("area");
  const [scored, setScored] = useState<Scored | null>(null);

  const take = (next: Source) => {
    setSource(next);
    setTurned({});
    setScored(null);
    const game: WholeGame | null = next.game;
    if (game) {
      const end = game.positions[next.at]!;
      setStones(end.stones);
      setKomi(game.komi);
      setCaptures(end.captures);
      setTool("correct");
      setRules(game.scoring);
    } else {
      setStones(Array(next.size).fill(".".repeat(next.size)));
      setCaptures([0, 0]);
      setTool("black");
    }
  };
  const names = (kind: "dead" | "alive") =>
    Object.entries(turned)
      .filter(([, fate]) => fate === kind)
      .map(([vertex]) => vertex);
  const asked = { stones, komi, captures, dead: names("dead"), alive: names("alive") };
  const key = JSON.stringify(asked);
  const rows = stones.length;
  const empty = stones.every((row) => !/[XO]/.test(row));
  useEffect(() => {
    if (empty) {
      setScored(null);
      return;
    }
    const stop = new AbortController();
    const timer = setTimeout(() => {
      api<Scored>("/score", { json: asked, signal: stop.signal }).then(setScored, complain);
    }, 200);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [key]);

  const onPoint = (vertex: string) => {
    const [x, y] = toXY(vertex, rows)!;
    const here = stones[y]![x]!;
    if (tool === "correct") {
      const block = scored?.blocks.find((b) => b.stones.includes(vertex));
      if (!block || !scored) return;
      const next = { ...turned };
      for (const stone of block.stones) delete next[stone];
      next[block.stones[0]!] = scored.dead.includes(vertex) ? "alive" : "dead";
      setTurned(next);
      return;
    }
    const wanted = { black: "X", white: "O", empty: "." }[tool];
    const put = here === wanted ? "." : wanted;
    setStones(stones.map((row, r) => (r === y ? row.slice(0, x) + put + row.slice(x + 1) : row)));
    setTurned({});
  };
  const count = scored?.[rules];
  return (
    <main class="table">
      <div class="board-column">
        <Board
          stones={stones}
          label={`${stones[0]!.length} by ${rows} board. Arrow keys move, Enter ${tool === "correct" ? "turns a block" : "puts a stone"}.`}
          hover={tool === "black" || tool === "white" ? tool : null}
          onPoint={onPoint}
          paint={paintOf(count)}
          dimmed={scored?.dead ?? []}
        />
      </div>
      <div class="side">
        <h1>Score</h1>
        <Picker source={source} change={take} />
        <Choice
          legend="A click"
          name="tool"
          value={tool}
          options={[
            ["correct", "corrects"],
            ["black", "Black"],
            ["white", "White"],
            ["empty", "clears"],
          ]}
          onChange={setTool}
        />
        <div class="fields">
          <label class="field">
            Komi
            <input
              type="number"
              step="0.5"
              min="-200"
              max="200"
              value={komi}
              onInput={(e) => setKomi(Number(e.currentTarget.value))}
            />
          </label>
          {(["Black", "White"] as const).map((name, i) => (
            <label class="field" key={name}>
              Taken by {name}
              <input
                type="number"
                min="0"
                max="400"
                value={captures[i]}
                onInput={(e) => {
                  const next: [number, number] = [...captures];
                  next[i] = Math.max(0, Math.floor(Number(e.currentTarget.value)));
                  setCaptures(next);
                }}
              />
            </label>
          ))}
        </div>
        <div class="result" role="status">
          {!scored && <p class="note">{empty ? "Drop a game or set up a position." : "Counting …"}</p>}
          {scored && (
            <>
              <p class="big">{scored[rules].result === "0" ? "A draw" : scored[rules].result}</p>
              <table>
                <thead>
                  <tr>
                    <th scope="col">Rules</th>
                    <th scope="col">Black</th>
                    <th scope="col">White</th>
                    <th scope="col">Result</th>
                  </tr>
                </thead>
                <tbody>
                  {(["area", "territory"] as const).map((name) => (
                    <tr key={name}>
                      <th scope="row">{name}</th>
                      <td>{scored[name].black}</td>
                      <td>{scored[name].white}</td>
                      <td>{scored[name].result}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
              <p class="note">
                Dead: {scored.dead.join(" ") || "none"}.
                {scored.seki.length > 0 && ` Seki: ${scored.seki.join(" ")}.`}{" "}
                {scored.safe ? "The scorer is sure." : "The scorer does not take this game for finished."}
                {scored.estimate &&
                  ` Estimate, if it goes on: ${asResult(scored.estimate.score)}, give or take ${scored.estimate.spread.toFixed(0)} (by ${scored.estimate.by}).`}
                {source.game?.result && ` The record says ${source.game.result}.`}
              </p>
            </>
          )}
        </div>
        <Choice
          legend="Shown on the board"
          name="rules"
          value={rules}
          options={[
            ["area", "Area"],
            ["territory", "Territory"],
          ]}
          onChange={setRules}
        />
        {count && <pre class="count">{count.explanation}</pre>}
        <BoardText stones={stones} />
      </div>
    </main>
  );
}
