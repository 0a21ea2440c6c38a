// A game against a machine.

import { useEffect, useRef, useState } from "preact/hooks";
import type { Marker } from "@sabaki/shudan";
import { api, type Colour, type Game, type Hint, type Opponent } from "./api";
import { Board, BoardText } from "./board";
import { Hints } from "./hints";
import { ratingOf } from "./newgame";
import { Stone, useLoaded } from "./parts";
import { paintOf } from "./points";
import { announce, complain } from "./status";

const CAREFUL = 9;

export function Play({ id }: { id: string }) {
  const [game, setGame] = useState<Game | null>(null);
  const [missing, setMissing] = useState("");
  const [hint, setHint] = useState<Hint | null>(null);
  const [asking, setAsking] = useState<AbortController | null>(null);
  const [pending, setPending] = useState<string | null>(null);
  const [sure, setSure] = useState(false);
  const [passing, setPassing] = useState(false);
  const [opponents] = useLoaded<Opponent[]>("/opponents");
  const shown = useRef<Game | null>(null);
  const [careful, setCareful] = useState(() => matchMedia("(pointer: coarse)").matches);

  const take = (next: Game) => {
    const before = shown.current;
    if (before && before.id === next.id && next.version < before.version) return;
    shown.current = next;
    setGame(next);
    if (next.question === "pass") setPassing(true);
    if (before?.version !== next.version) {
      setHint(null);
      setPending(null);
      setSure(false);
      setPassing(false);
      const last = next.moves[next.moves.length - 1];
      if (before && last && next.moves.length !== before.moves.length) {
        announce(`${last[0] === "B" ? "Black" : "White"} ${last[1]}`);
      }
    }
  };

  useEffect(() => {
    shown.current = null;
    setGame(null);
    setMissing("");
    let source: EventSource | null = null;
    const stop = new AbortController();
    api<Game>(`/games/${id}`, { signal: stop.signal }).then(
      (found) => {
        take(found);
        source = new EventSource(`/api/games/${id}/events`);
        source.addEventListener("state", (event) => take(JSON.parse(event.data)));
        source.addEventListener("gone", () => {
          source?.close();
          setMissing("This game was deleted.");
        });
      },
      (problem) => stop.signal.aborted || setMissing(problem.message),
    );
    return () => {
      stop.abort();
      source?.close();
    };
  }, [id]);

  if (missing) {
    return (
      <main class="narrow">
        <h1>Play</h1>
        <p>{missing}</p>
        <p>
          <a href="#/play">Begin a new game</a>
        </p>
      </main>
    );
  }
  if (!game) return <main class="table" aria-busy="true" />;

  const send = async (action: string, json: object = {}) => {
    try {
      take(await api<Game>(`/games/${id}/${action}`, { json: { version: game.version, ...json } }));
    } catch (problem) {
      complain(problem);
    }
  };
  const yours = game.status === "playing" && game.turn === game.you;
  const play = (move: string) => void send("moves", { move });
  const onPoint = (vertex: string) => {
    if (game.status === "counting") {
      if (game.dead) void send("dead", { vertex });
    } else if (!yours) {
      return;
    } else if (careful && game.size[0] > CAREFUL && pending !== vertex) {
      setPending(vertex);
    } else {
      play(vertex);
    }
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
      if (shown.current?.version === game.version) {
        setHint(found);
        const best = found.moves[0];
        announce(best ? `Hint: ${best.move}` : "Hint: pass");
      }
    } catch (problem) {
      complain(problem);
    } finally {
      setAsking(null);
    }
  };
  const study = async () => {
    try {
      const [made] = await api<{ id: string }[]>(`/games/${id}/review`, { method: "POST" });
      location.hash = `#/review/${made!.id}`;
    } catch (problem) {
      complain(problem);
    }
  };
  const opponent = opponents?.find((o) => o.id === game.opponent);
  const name = opponent?.name ?? game.opponent;
  const other: Colour = game.you === "black" ? "white" : "black";
  const marks: Record<string, Marker> = {};
  hint?.moves.forEach((c, i) => (marks[c.move] = { type: "label", label: "ABCDE"[i] }));
  const over = game.status === "over";
  const counted = game.count;
  const [, before] = game.moves[game.moves.length - 2] ?? [];
  const declined = yours && before === "pass" && game.moves[game.moves.length - 1]![1] !== "pass";
  const status = over
    ? `${game.result}: ${game.won === null ? "a draw" : game.won ? "you win" : "you lose"}`
    : game.status === "counting"
      ? game.dead
        ? `${game.open ? "The game is not over. " : ""}Counting: ${game.count?.result}. Click stones that are dead or alive after all.`
        : "Counting …"
      : game.trouble ||
        (passing
          ? "The game is not over: a pass loses points here."
          : declined
            ? "The game is not over: play on, resign, or count anyway."
            : yours
              ? "Your move"
              : `${name} thinks …`);

  return (
    <main class="table">
      <div class="board-column">
        <Board
          stones={game.stones}
          label={`${game.size[1]} by ${game.size[0]} board. Arrow keys move, Enter plays, U takes back, H hints.`}
          last={game.last}
          hover={yours ? game.you : null}
          onPoint={over ? undefined : onPoint}
          paint={paintOf(counted)}
          marks={marks}
          dimmed={game.dead ?? []}
          selected={pending}
          onKey={(key) => {
            if (key === "u" || key === "U") void send("undo");
            else if (key === "h" || key === "H") void (yours && askHint());
            else return false;
            return true;
          }}
        />
      </div>
      <div class="side">
        <h1 class="unseen">
          Game against {name} on {game.size[1]} by {game.size[0]}
        </h1>
        <Seat
          colour={other}
          name={`${name}${opponent ? ratingOf(opponent, game.size[0]) : ""}`}
          game={game}
          active={!over && game.turn === other}
        />
        <Seat colour={game.you} name="You" game={game} active={!over && game.turn === game.you} />
        <p class="status" role="status">
          {status}
        </p>
        {game.status === "playing" && (
          <div class="actions">
            {pending ? (
              <button class="primary" onClick={() => play(pending)}>
                Play {pending}
              </button>
            ) : passing ? (
              <button class="danger" onClick={() => void send("moves", { move: "pass", sure: true })}>
                Really pass
              </button>
            ) : (
              <button disabled={!yours} onClick={() => play("pass")}>
                Pass
              </button>
            )}
            {declined && <button onClick={() => send("count")}>Count anyway</button>}
            <button disabled={!game.moves.length} onClick={() => send("undo")}>
              {yours ? "Undo" : "Take back"}
            </button>
            <button disabled={!yours} aria-pressed={asking !== null} onClick={askHint}>
              {asking ? "Stop" : "Hint"}
            </button>
            {sure ? (
              <button class="danger" onClick={() => play("resign")}>
                Really resign
              </button>
            ) : (
              <button onClick={() => setSure(true)}>Resign</button>
            )}
            {game.trouble && <button onClick={() => send("retry")}>Try again</button>}
          </div>
        )}
        {game.status === "counting" && (
          <div class="actions">
            <button class="primary" disabled={!game.dead} onClick={() => send("accept")}>
              Accept the count
            </button>
            <button onClick={() => send("undo")}>Play on</button>
          </div>
        )}
        {over && (
          <div class="actions">
            <a class="button primary" href="#/play">
              New game
            </a>
            <button onClick={() => void study()}>Review this game</button>
            <button onClick={() => send("undo")}>Take back</button>
          </div>
        )}
        {game.status === "playing" && (
          <Typed disabled={!yours} onMove={play} />
        )}
        {hint && <Hints hint={hint} turn={game.turn} />}
        {counted && <pre class="count">{counted.explanation}</pre>}
        <p class="links">
          <a href={`/api/games/${id}/sgf`} download>
            Download SGF
          </a>
          <label>
            <input
              type="checkbox"
              checked={careful}
              onChange={(e) => setCareful(e.currentTarget.checked)}
            />
            Confirm moves on large boards
          </label>
        </p>
        <details class="moves">
          <summary>
            {game.moves.length} {game.moves.length === 1 ? "move" : "moves"}, komi {game.komi}
            {game.handicap ? `, ${game.handicap} handicap stones` : ""}, {game.scoring} scoring
          </summary>
          <ol>
            {game.moves.map(([colour, move], i) => (
              <li key={i}>
                {colour} {move}
              </li>
            ))}
          </ol>
        </details>
        <BoardText stones={game.stones} />
      </div>
    </main>
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
        Type a move
        <input
          value={text}
          onInput={(e) => setText(e.currentTarget.value)}
          placeholder="D4"
          maxLength={8}
          autocomplete="off"
          size={5}
        />
      </label>
      <button disabled={disabled}>Play</button>
    </form>
  );
}

interface SeatProps {
  colour: Colour;
  name: string;
  game: Game;
  active: boolean;
}

function Seat({ colour, name, game, active }: SeatProps) {
  const taken = game.captures[colour];
  return (
    <div class={`seat${active ? " active" : ""}`}>
      <Stone colour={colour} />
      <span class="name">{name}</span>
      <span class="meta">
        {taken} captured{taken === 1 ? " stone" : ""}
      </span>
      {game.clock && <Time game={game} colour={colour} running={active && game.clock.running} />}
    </div>
  );
}

function Time({ game, colour, running }: { game: Game; colour: Colour; running: boolean }) {
  const start = game.clock![colour];
  const [passed, setPassed] = useState(0);
  useEffect(() => {
    setPassed(0);
    if (!running) return;
    const began = Date.now();
    const timer = setInterval(() => setPassed((Date.now() - began) / 1000), 250);
    return () => clearInterval(timer);
  }, [game, running]);
  const left = Math.max(start - passed, 0);
  const seconds = String(Math.floor(left % 60)).padStart(2, "0");
  return (
    <span class="time" role="timer">
      {Math.floor(left / 60)}:{seconds}
    </span>
  );
}
