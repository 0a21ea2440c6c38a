// Score a finished position: dropped, or set up stone by stone; corrected by click.

import { useEffect, useState } from "preact/hooks";
import { api, type Count, type WholeGame } from "./api";
import { Board, BoardText } from "./board";
import { t } from "./i18n";
import { Choice, CountTable } from "./parts";
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
          label={t("scoreKeys")}
          hover={tool === "black" || tool === "white" ? tool : null}
          onPoint={onPoint}
          paint={paintOf(count)}
          dimmed={scored?.dead ?? []}
        />
      </div>
      <div class="side">
        <h1>{t("score")}</h1>
        <Picker source={source} change={take} />
        <Choice
          legend={t("aClick")}
          name="tool"
          value={tool}
          options={[
            ["correct", t("corrects")],
            ["black", t("black")],
            ["white", t("white")],
            ["empty", t("clears")],
          ]}
          onChange={setTool}
        />
        <div class="fields">
          <label class="field">
            {t("komi")}
            <input
              type="number"
              step="0.5"
              min="-200"
              max="200"
              value={komi}
              onInput={(e) => setKomi(Number(e.currentTarget.value))}
            />
          </label>
          {(["black", "white"] as const).map((name, i) => (
            <label class="field" key={name}>
              {t("takenBy", { colour: t(name) })}
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
          {!scored && <p class="note">{t(empty ? "dropOrSetUp" : "counting")}</p>}
          {scored && (
            <>
              <p class="big">{scored[rules].result === "0" ? t("aDraw") : scored[rules].result}</p>
              <table>
                <thead>
                  <tr>
                    <th scope="col">{t("rules")}</th>
                    <th scope="col">{t("black")}</th>
                    <th scope="col">{t("white")}</th>
                    <th scope="col">{t("result")}</th>
                  </tr>
                </thead>
                <tbody>
                  {(["area", "territory"] as const).map((name) => (
                    <tr key={name}>
                      <th scope="row">{t(name)}</th>
                      <td>{scored[name].black}</td>
                      <td>{scored[name].white}</td>
                      <td>{scored[name].result}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
              <p class="note">
                {t("deadStones", { stones: scored.dead.join(" ") || t("none") })}
                {scored.seki.length > 0 && ` ${t("sekiStones", { stones: scored.seki.join(" ") })}`}{" "}
                {t(scored.safe ? "scorerSure" : "scorerUnsure")}
                {scored.estimate &&
                  ` ${t("ifItGoesOn", { result: asResult(scored.estimate.score), spread: scored.estimate.spread.toFixed(0) })}`}
                {source.game?.result && ` ${t("recordSays", { result: source.game.result })}`}
              </p>
            </>
          )}
        </div>
        <Choice
          legend={t("onTheBoard")}
          name="rules"
          value={rules}
          options={[
            ["area", t("area")],
            ["territory", t("territory")],
          ]}
          onChange={setRules}
        />
        {count && <CountTable count={count} />}
        <BoardText stones={stones} />
      </div>
    </main>
  );
}
