// The list of reviews, and a place to drop more games.

import { useEffect, useState } from "preact/hooks";
import { api, backend, type Queued, type ReviewEntry } from "./api";
import { t } from "./i18n";
import { ago, Drop, Tick, usePolled } from "./parts";
import { STAGES } from "./review";
import { complain } from "./status";

const REFRESH = 1500;
const GAMES = /\.(sgf|gib|ngf|mgt|txt|zip|tar|tgz|gz|bz2|xz)$/i;

/** Send files to be reviewed, and say which games were queued, known before, or not read. */
export async function sendGames(
  files: File[],
  quick: boolean,
  onProgress: (n: number) => void = () => {},
): Promise<Queued> {
  const sum: Queued = { reviews: [], known: [], unread: [] };
  for (const [n, file] of files.entries()) {
    onProgress(n + 1);
    try {
      const query = new URLSearchParams({ name: file.name, quick: String(quick) });
      const { reviews, known, unread } = await api<Queued>(`/reviews?${query}`, { body: file });
      sum.reviews.push(...reviews);
      sum.known.push(...known);
      sum.unread.push(...unread);
    } catch (problem) {
      sum.unread.push(problem instanceof Error ? problem.message : String(problem));
    }
  }
  return sum;
}

export function Reviews() {
  const [busy, setBusy] = useState(true);
  const [reviews, reload] = usePolled<ReviewEntry[]>("/reviews", busy ? REFRESH : null);
  const queue = reviews?.filter((r) => r.status === "waiting") ?? [];
  const waiting = !reviews || queue.length > 0;
  useEffect(() => setBusy(waiting), [waiting]);
  const [quick, setQuick] = useState(false);
  const [told, setTold] = useState<Queued | null>(null);
  const [asking, setAsking] = useState(false);
  const [adding, setAdding] = useState<{ n: number; all: number } | null>(null);
  const add = async (files: File[]) => {
    setTold(null);
    const sum = await sendGames(files, quick, (n) => setAdding({ n, all: files.length }));
    setAdding(null);
    const all = [...sum.reviews, ...sum.known];
    if (all.length === 1 && !sum.unread.length) location.hash = `#/review/${all[0]!.id}`;
    else reload();
    setTold(sum);
  };
  const cancelAll = async () => {
    setAsking(false);
    await api("/reviews", { method: "DELETE" }).catch(complain);
    reload();
  };
  const forget = async (id: string) => {
    await api(`/reviews/${id}`, { method: "DELETE" }).catch(complain);
    reload();
  };
  const retry = async (id: string) => {
    await api(`/reviews/${id}/retry`, { method: "POST" }).catch(complain);
    reload();
  };
  return (
    <main class="narrow">
      <h1>{t("review")}</h1>
      <p>{t("reviewAbout")}</p>
      <Drop onFiles={(files) => void add(files)}>{t(backend.offers("archives") ? "dropToReview" : "homeDrop")}</Drop>
      <div class="actions">
        <label class="button">
          {t("wholeFolder")}
          <input
            class="unseen"
            type="file"
            multiple
            {...{ webkitdirectory: true }}
            onChange={(event) => {
              const files = [...(event.currentTarget.files ?? [])];
              event.currentTarget.value = "";
              void add(files.filter((file) => GAMES.test(file.name)));
            }}
          />
        </label>
        <Tick checked={quick} onChange={setQuick} text={t("quickReview")} />
      </div>
      {(queue.length > 0 || adding) && (
        <p class="queue" role="status">
          {adding ? t("sending", adding) : t("inQueue", { n: queue.length })}
          {queue.length > 0 && (
            <button aria-expanded={asking} onClick={() => setAsking(!asking)}>
              {t("cancelAll")}
            </button>
          )}
        </p>
      )}
      {asking && queue.length > 0 && (
        <p class="actions question">
          <span>{t("reallyCancel", { n: queue.length })}</span>
          <button onClick={() => setAsking(false)}>{t("no")}</button>
          <button class="danger" onClick={() => void cancelAll()}>
            {t("yesCancel")}
          </button>
        </p>
      )}
      {told && (told.known.length > 0 || told.unread.length > 0) && <Told told={told} close={() => setTold(null)} />}
      <h2>{t("yourReviews")}</h2>
      {reviews?.length === 0 && <p class="note">{t("noneYet")}</p>}
      <ul class="games">
        {reviews?.map((review) => (
          <li key={review.id}>
            <a href={`#/review/${review.id}`}>
              <span>
                {titleOf(review)}
              </span>
              <span class="meta">
                {(review.black || review.white) && `${fileOf(review)} · `}
                {review.size[1]}×{review.size[0]}, {t("nMoves", { n: review.moves })}
                {review.result && `, ${review.result}`} ·{" "}
                {review.status === "waiting"
                  ? review.progress
                    ? `${t(STAGES[review.progress.stage])}: ${t("nOf", { n: review.progress.done, all: review.progress.total })}`
                    : t("waiting")
                  : review.status === "failed"
                    ? t("failed")
                    : ago(review.changed)}
              </span>
            </a>
            {review.status === "failed" && (
              <button onClick={() => void retry(review.id)}>{t("tryAgain")}</button>
            )}
            <button
              class="plain"
              onClick={() => forget(review.id)}
              aria-label={t("deleteReview", { name: titleOf(review) })}
            >
              ×
            </button>
          </li>
        ))}
      </ul>
    </main>
  );
}

/** Name a game's file, and its number if it is not the first of the file. */
export function fileOf({ file, game }: ReviewEntry): string {
  const name = file.slice(file.lastIndexOf("/") + 1);
  return game > 1 ? `${name}, ${game}` : name;
}

export function titleOf(review: ReviewEntry): string {
  if (!review.black && !review.white) return fileOf(review);
  return `${review.black || t("black")} – ${review.white || t("white")}`;
}

/** Say what of the files was reviewed before, and what could not be read. */
function Told({ told, close }: { told: Queued; close: () => void }) {
  return (
    <section class="told" role="alert">
      <button class="plain" onClick={close} aria-label={t("dismiss")}>
        ×
      </button>
      <p>
        {t("queued", { n: told.reviews.length })}
        {told.known.length > 0 && ` ${t("knownAlready", { n: told.known.length })}`}
      </p>
      {told.unread.length > 0 && (
        <>
          <p>{t("notRead", { n: told.unread.length })}</p>
          <ul>
            {told.unread.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}
