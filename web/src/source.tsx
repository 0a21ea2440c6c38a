// A position to look at: a game from a file that one steps through, or moves played freely.

import { useEffect, useState } from "preact/hooks";
import { api, type BoardState, type WholeGame } from "./api";
import { t } from "./i18n";
import { Drop, SizeChoice } from "./parts";
import { complain } from "./status";
import { alternating, blank, positionOf } from "./positions";

export interface Source {
  game: WholeGame | null;
  size: number;
  at: number;
  extra: string[];
}

export type Asked = ReturnType<typeof positionOf>;

export const EMPTY: Source = { game: null, size: 9, at: 0, extra: [] };

/** Return what to ask the server about, with the history where there is one. */
export function asked({ game, size, at, extra }: Source): Asked {
  if (!game) return positionOf(blank(size), alternating("black", extra), 7.5);
  const here = game.positions[at]!;
  const more = alternating(here.turn, extra);
  if (game.line.length < at) return positionOf(here, more, game.komi);
  const start = game.positions[0]!;
  const turn = game.line[0]?.[0] === "W" ? "white" : game.line.length ? "black" : start.turn;
  return positionOf({ ...start, turn }, [...game.line.slice(0, at), ...more], game.komi);
}

/** Return the board of a source; an illegal move is taken back with a word. */
export function useBoard(source: Source, change: (next: Source) => void): BoardState {
  const still = source.game ? source.game.positions[source.at]! : blank(source.size);
  const [played, setPlayed] = useState<BoardState | null>(null);
  const key = source.extra.length ? JSON.stringify(asked(source)) : "";
  useEffect(() => {
    if (!key) {
      // Between two moves the last board stays, but not in another game or on another board.
      setPlayed(null);
      return;
    }
    const stop = new AbortController();
    api<BoardState>("/position", { json: JSON.parse(key), signal: stop.signal }).then(
      setPlayed,
      (problem) => {
        if (stop.signal.aborted) return;
        complain(problem);
        change({ ...source, extra: source.extra.slice(0, -1) });
      },
    );
    return () => stop.abort();
  }, [key]);
  return key && played ? played : still;
}

interface PickerProps {
  source: Source;
  change: (next: Source) => void;
}

/** Choose an empty board or a file. */
export function Picker({ source, change }: PickerProps) {
  const [files, setFiles] = useState<File | null>(null);
  const open = async (file: File, number: number) => {
    try {
      const query = new URLSearchParams({ name: file.name, game: String(number) });
      const game = await api<WholeGame>(`/records?${query}`, { body: file });
      setFiles(file);
      change({ game, size: game.size[0], at: game.positions.length - 1, extra: [] });
    } catch (problem) {
      complain(problem);
    }
  };
  const many = source.game?.games ?? 1;
  return (
    <div class="picker">
      <SizeChoice
        legend={t("board")}
        name="empty-board"
        value={source.game ? 0 : source.size}
        onChange={(size) => change({ game: null, size, at: 0, extra: [] })}
      />
      <Drop onFiles={(chosen) => chosen[0] && void open(chosen[0], 1)}>
        {source.game ? source.game.file : t("orDropGame")}
      </Drop>
      {many > 1 && files && (
        <label class="field">
          {t("gameOf", { n: many })}
          <input
            type="number"
            min={1}
            max={many}
            value={source.game!.game}
            onChange={(e) => void open(files, Number(e.currentTarget.value))}
          />
        </label>
      )}
    </div>
  );
}
