// A game against a machine or between two people, with a teacher if one is wanted.

import type { Marker } from "@sabaki/shudan";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { api, ApiError, backend, type BoardState, type Colour, type Game, type Hint, type Lesson, type Opponent, type Queued } from "./api";
import { Board, BoardText, type Disc } from "./board";
import { shownAfter } from "./clock";
import { discsOf, Hints, moveName } from "./hints";
import { store, stored, t } from "./i18n";
import { nameOf, strengthOf } from "./newgame";
import { CountTable, Download, EstimateWords, follow, Loading, Scrubber, Stone, Tick, useKeys, useLoaded, useSteps } from "./parts";
import { inRows, paintOf, unpacked } from "./points";
import { afterMove, moveNumbers, opposite, positionOf, replay } from "./positions";
import { knock, tick } from "./sound";
import { announce, complain } from "./status";
import { openStudy } from "./study";
import { useEstimate } from "./variation";

const IS_TOUCH = matchMedia("(pointer: coarse)").matches;
const SMALL = 9;

export function Play({ id }: { id: string }) {
  const [game, setGame] = useState<Game | null>(null);
  const [missing, setMissing] = useState("");
  const [opponents] = useLoaded<Opponent[]>("/opponents");
  const shown = useRef<Game | null>(null);

  const take = (next: Game) => {
    const before = shown.current;
    if (before && before.id === next.id && next.version < before.version) return;
    shown.current = next;
    setGame(next);
    const last = next.moves[next.moves.length - 1];
    if (before && last && next.moves.length > before.moves.length) {
      if (last[0] !== before.turn[0]!.toUpperCase() || next.moves.length > before.moves.length + 1) knock();
      announce(`${t(last[0] === "B" ? "black" : "white")} ${moveName(last[1])}`);
    }
  };

  useEffect(() => {
    shown.current = null;
    setGame(null);
    setMissing("");
    const stop = new AbortController();
    const end = follow(async () => {
      const known = shown.current;
      // Trouble may come and go without a new version.
      const place = `/games/${encodeURIComponent(id)}`;
      const query = known && !known.trouble ? `?version=${known.version}` : "";
      try {
        const found = await api<Game | undefined>(`${place}${query}`, { signal: stop.signal });
        if (found && !stop.signal.aborted) take(found);
        return found !== undefined && !found.trouble;
      } catch (problem) {
        if (stop.signal.aborted || !(problem instanceof ApiError) || (known && problem.status !== 404)) return false;
        setMissing(known ? t("gameDeleted") : problem.message);
        return null;
      }
    });
    return () => {
      stop.abort();
      end();
    };
  }, [id]);

  if (missing) {
    return (
      <main class="narrow">
        <h1>{t("play")}</h1>
        <p>{missing}</p>
        <p>
          <a href="#/play">{t("newGame")}</a>
        </p>
      </main>
    );
  }
  if (!game) return <Loading />;
  return <Table game={game} take={take} opponent={opponents?.find((o) => o.id === game.opponent)} />;
}

interface TableProps {
  game: Game;
  take: (game: Game) => void;
  opponent: Opponent | undefined;
}

function Table({ game, take, opponent }: TableProps) {
  const { id, version } = game;
  const [view, setView] = useState<number | null>(null);
  const [ahead, setAhead] = useState<{ version: number; state: BoardState } | null>(null);
  const [hinted, setHint] = useState<{ version: number; hint: Hint } | null>(null);
  const hint = hinted?.version === version ? hinted.hint : null;
  const [asking, setAsking] = useState<AbortController | null>(null);
  const [pending, setPending] = useState<string | null>(null);
  const [question, setQuestion] = useState<"resign" | "pass" | "loses" | null>(null);
  const [better, setBetter] = useState(false);
  const [careful, setCareful] = useState(() => stored("careful", IS_TOUCH ? "on" : "off") === "on");
  const [numbers, setNumbers] = useState(false);
  const [estimating, setEstimating] = useState(() => stored("estimate", "off") === "on");
  useEffect(() => {
    setPending(null);
    setQuestion(null);
    setBetter(false);
    setView(null);
  }, [version]);

  const start = useMemo<BoardState>(
    () => ({ stones: game.start, turn: game.moves[0]?.[0] === "W" ? "white" : game.moves.length ? "black" : game.turn, last: null, captures: [0, 0], suicide: game.suicide }),
    [id, game.moves.length === 0],
  );
  const positions = useMemo(() => replay(start, game.moves), [start, game.moves]);
  const length = game.moves.length;
  const at = view ?? length;
  const go = (number: number) => setView(number >= length ? null : Math.max(number, 0));
  const steps = { at, length, go };
  useSteps(steps);
  const now: BoardState = {
    stones: game.stones,
    turn: game.turn,
    last: game.last,
    captures: [game.captures.black, game.captures.white],
    suicide: game.suicide,
  };
  const state: BoardState =
    view !== null ? (positions[view] ?? now) : ahead?.version === version ? ahead.state : now;

  const playing = game.status === "playing";
  const over = game.status === "over";
  const both = game.you === "both";
  const lesson = game.lesson;
  const stopped = playing && lesson?.asks === true;
  const sent = ahead?.version === version; // until the server answers, nothing else is played
  const yours = playing && (both || game.turn === game.you) && !stopped && !sent;
  const estimated = useEstimate(
    estimating && !game.count ? positionOf(start, game.moves.slice(0, at), game.komi) : null,
  );

  const send = async (action: string, json: object = {}) => {
    try {
      const next = await api<Game>(`/games/${id}/${action}`, { json: { version, ...json } });
      take(next);
      if (next.question === "pass") setQuestion("loses");
    } catch (problem) {
      setAhead(null);
      complain(problem);
    }
  };
  const play = (move: string) => {
    setPending(null);
    const next = yours && !game.illegal.includes(move) ? afterMove(now, move) : null;
    if (next && move !== "pass") {
      setAhead({ version, state: next });
      knock();
    }
    void send("moves", { move });
  };
  const onPoint = (vertex: string) => {
    if (view !== null) {
      setView(null);
    } else if (game.status === "counting") {
      if (game.dead) void send("dead", { vertex });
    } else if (!yours) {
      return;
    } else if (careful && game.size[0] > SMALL && pending !== vertex) {
      setPending(game.illegal.includes(vertex) ? null : vertex);
    } else {
      play(vertex);
    }
  };
  const pass = () => {
    if (question) setQuestion(null);
    else if (IS_TOUCH) setQuestion("pass");
    else play("pass");
  };
  const askHint = async () => {
    if (asking) {
      asking.abort();
      setAsking(null);
      return;
    }
    const stop = new AbortController();
    setAsking(stop);
    try {
      const found = await api<Hint>(`/games/${id}/hint`, { method: "POST", signal: stop.signal });
      setHint({ version, hint: found });
      announce(`${t("hint")}: ${moveName(found.moves[0]?.move ?? "pass")}`);
    } catch (problem) {
      complain(problem);
    } finally {
      setAsking(null);
    }
  };
  const study = async () => {
    try {
      openStudy(await backend.file(`/games/${id}/sgf`).then((file) => file.text()));
    } catch (problem) {
      complain(problem);
    }
  };
  const review = async () => {
    try {
      const { reviews, known } = await api<Queued>(`/games/${id}/review`, { method: "POST" });
      location.hash = `#/review/${(reviews[0] ?? known[0])!.id}`;
    } catch (problem) {
      complain(problem);
    }
  };
  useKeys((key) => {
    if (key === "u" || key === "U") void send("undo");
    else if (key === "h" || key === "H") void (yours && askHint());
    else if (key === "e" || key === "E") setEstimating(!estimating);
    else if (key === "Escape") setPending(null);
    else return false;
    return true;
  });

  const name = both ? "" : opponent ? nameOf(opponent) : game.opponent;
  const marks: Record<string, Marker> = {};
  const discs: Record<string, Disc> = {};
  if (numbers) {
    const found = moveNumbers(state.stones, game.moves.slice(0, at));
    for (const [vertex, n] of Object.entries(found)) marks[vertex] = { type: "label", label: String(n) };
  }
  if (view === null) {
    Object.assign(discs, discsOf(hint));
    if (better && lesson && lesson.best !== "pass") discs[lesson.best] = { text: "A", tone: 0 };
  }
  const [, before] = game.moves[length - 2] ?? [];
  const declined = yours && !both && before === "pass" && game.moves[length - 1]![1] !== "pass";
  const paint = view === null && game.count
    ? paintOf(game.count)
    : estimating && estimated?.ownership
      ? inRows(unpacked(estimated.ownership), game.size[1])
      : null;

  return (
    <main class="table">
      <div class="board-column with-scrubber">
        <Board
          stones={state.stones}
          label={t("playKeys")}
          last={state.last}
          hover={yours && view === null ? game.turn : null}
          onPoint={over && view === null ? undefined : onPoint}
          paint={paint}
          marks={marks}
          discs={discs}
          dimmed={view === null ? (game.dead ?? []) : []}
          confirm={
            pending && yours
              ? { vertex: pending, onYes: () => play(pending), onNo: () => setPending(null) }
              : null
          }
        />
        <Scrubber {...steps} />
      </div>
      <div class="side">
        <h1 class="unseen">{both ? t("twoPeople") : t("gameAgainst", { name })}</h1>
        <div class="seats">
          {(both ? (["white", "black"] as const) : ([opposite(game.you as Colour), game.you as Colour] as const)).map(
            (colour) => (
              <Seat
                key={colour}
                colour={colour}
                name={both ? game.names[colour] || t(colour) : colour === game.you ? t("you") : name}
                about={!both && colour !== game.you && opponent ? strengthOf(opponent, game.size[0]) : ""}
                game={game}
                active={!over && game.turn === colour}
              />
            ),
          )}
        </div>
        <p class="status" role="status">
          {view !== null
            ? t("lookingAtMove", { n: view, all: length })
            : statusOf(game, name, question === "loses", declined, yours)}
        </p>
        {view !== null && (
          <p class="actions">
            <button class="primary" onClick={() => setView(null)}>
              {t("backToGame")}
            </button>
          </p>
        )}
        {stopped && view === null && (
          <LessonCard
            lesson={lesson}
            better={better}
            show={() => setBetter(!better)}
            retry={() => void send("undo")}
            goOn={() => void send("go-on")}
          />
        )}
        {playing && !stopped && (
          <div class="actions">
            <button disabled={!yours} aria-pressed={question === "pass"} onClick={pass}>
              {t("pass")}
            </button>
            {declined && <button onClick={() => send("count")}>{t("countAnyway")}</button>}
            <button disabled={!length} onClick={() => send("undo")}>
              {t("undo")}
            </button>
            <button disabled={!yours} aria-pressed={asking !== null} onClick={askHint}>
              {asking ? t("stop") : t("hint")}
            </button>
            <button onClick={() => setQuestion(question ? null : "resign")}>{t("resign")}</button>
            {game.trouble && <button onClick={() => send("retry")}>{t("tryAgain")}</button>}
          </div>
        )}
        {/* Below the buttons, so that none of them moves under a second tap. */}
        {question && (
          <p class="actions question">
            <span>{t(question === "resign" ? "reallyResign" : "reallyPass")}</span>
            <button onClick={() => setQuestion(null)}>{t("no")}</button>
            <button
              class="danger"
              onClick={() =>
                question === "resign" ? play("resign") : void send("moves", { move: "pass", sure: question === "loses" })
              }
            >
              {t(question === "resign" ? "yesResign" : "yesPass")}
            </button>
          </p>
        )}
        {game.status === "counting" && (
          <div class="actions">
            <button class="primary" disabled={!game.dead} onClick={() => send("accept")}>
              {t("acceptCount")}
            </button>
            <button onClick={() => send("undo")}>{t("playOn")}</button>
          </div>
        )}
        {over && (
          <div class="actions">
            <a class="button primary" href="#/play">
              {t("newGame")}
            </a>
            <button onClick={() => void review()}>{t("reviewGame")}</button>
            <button onClick={() => send("undo")}>{t("undo")}</button>
          </div>
        )}
        {playing && !stopped && lesson && lesson.points_lost >= 0.5 && (
          <p class="note">{lostWords(lesson)}</p>
        )}
        {over && game.teach > 0 && <Summary game={game} />}
        {estimating && !game.count && <EstimateWords estimate={estimated} />}
        {hint && view === null && <Hints hint={hint} turn={game.turn} />}
        {game.count && <CountTable count={game.count} />}
        <div class="toggles">
          <Tick
            checked={estimating}
            onChange={(on) => {
              setEstimating(on);
              store("estimate", on ? "on" : "off");
            }}
            text={t("estimate")}
          />
          <Tick checked={numbers} onChange={setNumbers} text={t("moveNumbers")} />
          <Tick
            checked={careful}
            onChange={(on) => {
              setCareful(on);
              store("careful", on ? "on" : "off");
            }}
            text={t("confirmMoves")}
          />
        </div>
        {playing && <Typed disabled={!yours} onMove={play} />}
        <p class="links">
          <Download path={`/games/${id}/sgf`} name={`game-${id}.sgf`}>
            {t("downloadSgf")}
          </Download>
          <button class="link" onClick={() => void study()}>
            {t("openInStudy")}
          </button>
        </p>
        <details class="moves">
          <summary>
            {t("movesKomi", { n: length, komi: game.komi })}
            {game.handicap ? `, ${t("stonesHandicap", { n: game.handicap })}` : ""},{" "}
            {t(game.scoring === "area" ? "areaScoring" : "territoryScoring")}
          </summary>
          <ol>
            {game.moves.map(([colour, move], i) => (
              <li key={i}>
                {colour} {moveName(move)}
              </li>
            ))}
          </ol>
        </details>
        <BoardText stones={state.stones} />
      </div>
    </main>
  );
}

function statusOf(game: Game, name: string, loses: boolean, declined: boolean, yours: boolean): string {
  if (game.status === "over") {
    const how = game.you === "both" ? "" : t(game.won === null ? "aDraw" : game.won ? "youWin" : "youLose");
    return [game.result, how].filter(Boolean).join(": ");
  }
  if (game.status === "counting") {
    if (!game.dead) return t("counting");
    return `${game.open ? `${t("notOver")} ` : ""}${t("countingResult", { result: game.count?.result ?? "" })}`;
  }
  if (game.trouble) return game.trouble;
  if (loses) return t("passLoses");
  if (declined) return t("notOverChoose");
  if (game.you === "both") return t("toMove", { colour: t(game.turn) });
  return yours ? t("yourMove") : game.lesson?.asks ? t("lookAgain") : t("thinks", { name });
}

function lostWords(lesson: Lesson): string {
  return t("moveLost", {
    move: moveName(lesson.move),
    points: lesson.points_lost.toFixed(1),
    error: lesson.error.toFixed(1),
  });
}

interface LessonProps {
  lesson: Lesson;
  better: boolean;
  show: () => void;
  retry: () => void;
  goOn: () => void;
}

/** What the last move lost, and what to do about it. */
function LessonCard({ lesson, better, show, retry, goOn }: LessonProps) {
  useEffect(() => announce(lostWords(lesson)), [lesson.number]);
  return (
    <section class="lesson" aria-label={t("teacher")}>
      <p>
        <strong>{lostWords(lesson)}</strong> {better && t("betterWas", { move: moveName(lesson.best) })}
      </p>
      <div class="actions">
        <button class="primary" onClick={retry}>
          {t("retry")}
        </button>
        <button aria-pressed={better} onClick={show}>
          {t("showBetter")}
        </button>
        <button onClick={goOn}>{t("goOn")}</button>
      </div>
    </section>
  );
}

/** The most expensive moves of a game, to be tried again as problems. */
function Summary({ game }: { game: Game }) {
  return (
    <section aria-label={t("summary")}>
      <h2>{t("summary")}</h2>
      {game.worst.length === 0 && <p>{t("noMistakes")}</p>}
      <ol class="worst">
        {game.worst.map((lesson) => (
          <li key={lesson.number}>
            <a class="row" href={`#/problems/${encodeURIComponent(`${game.id}-${lesson.number}-${lesson.move}`)}`}>
              <Stone colour={lesson.colour} />
              <span>
                {lesson.number} {moveName(lesson.move)}
              </span>
              <span class="meta">
                −{lesson.points_lost.toFixed(1)} ± {lesson.error.toFixed(1)}
              </span>
              <span>{t("findBetter")}</span>
            </a>
          </li>
        ))}
      </ol>
      {game.worst.length > 0 && <p class="note">{t("keptAsProblems")}</p>}
    </section>
  );
}

function Typed({ disabled, onMove }: { disabled: boolean; onMove: (move: string) => void }) {
  const [text, setText] = useState("");
  return (
    <form
      class="typed"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim()) onMove(text.trim());
        setText("");
      }}
    >
      <label>
        {t("typeMove")}
        <input
          value={text}
          onInput={(e) => setText(e.currentTarget.value)}
          placeholder="D4"
          maxLength={8}
          autocomplete="off"
          size={5}
        />
      </label>
      <button disabled={disabled}>{t("playIt")}</button>
    </form>
  );
}

interface SeatProps {
  colour: Colour;
  name: string;
  about: string;
  game: Game;
  active: boolean;
}

function Seat({ colour, name, about, game, active }: SeatProps) {
  return (
    <div class={`seat${active ? " active" : ""}`}>
      <Stone colour={colour} />
      <span>
        <span class="name">{name}</span>
        {about && <small>{about}</small>}
      </span>
      <span class="meta">{t("captured", { n: game.captures[colour] })}</span>
      {game.clock && <Time game={game} colour={colour} running={active && game.clock.running} />}
    </div>
  );
}

function Time({ game, colour, running }: { game: Game; colour: Colour; running: boolean }) {
  const clock = game.clock!;
  const [passed, setPassed] = useState(0);
  const warned = useRef(0);
  useEffect(() => {
    setPassed(0);
    if (!running) return;
    const began = Date.now();
    const timer = setInterval(() => setPassed((Date.now() - began) / 1000), 250);
    return () => clearInterval(timer);
  }, [game, running]);
  const { left, stones, periods } = shownAfter(clock, colour, running ? passed : 0);
  const whole = Math.ceil(left);
  useEffect(() => {
    // The last seconds of a person's time tick.
    if (running && game.you !== opposite(colour) && whole <= 10 && whole > 0 && warned.current !== whole) tick();
    warned.current = whole;
  }, [whole, running]);
  return (
    <span class={`time${running && whole <= 10 ? " short" : ""}`} role="timer">
      {Math.floor(whole / 60)}:{String(whole % 60).padStart(2, "0")}
      {stones > 0 && <small>{clock.periods > 1 || clock.stones === 1 ? ` ×${periods}` : ` /${stones}`}</small>}
    </span>
  );
}
