// The list of reviews, and a place to drop more games.

import { useEffect, useState } from "preact/hooks";
import { api, type ReviewEntry } from "./api";
import { t } from "./i18n";
import { ago, Drop, Tick, usePolled } from "./parts";
import { STAGES } from "./review";
import { complain } from "./status";

const REFRESH = 1500;
const GAMES = /\.(sgf|gib|ngf|mgt|txt|zip|tar|tgz|gz|bz2|xz)$/i;

export function Reviews() {
  const [busy, setBusy] = useState(true);
  const [reviews, reload] = usePolled<ReviewEntry[]>("/reviews", busy ? REFRESH : null);
  const queue = reviews?.filter((r) => r.status === "waiting") ?? [];
  const waiting = !reviews || queue.length > 0;
  useEffect(() => setBusy(waiting), [waiting]);
  const [quick, setQuick] = useState(false);
  const [adding, setAdding] = useState<{ n: number; all: number } | null>(null);
  const add = async (files: File[]) => {
    const made: { id: string }[] = [];
    for (const [n, file] of files.entries()) {
      setAdding({ n: n + 1, all: files.length });
      try {
        const query = new URLSearchParams({ name: file.name, quick: String(quick) });
        made.push(...(await api<{ id: string }[]>(`/reviews?${query}`, { body: file })));
      } catch (problem) {
        complain(problem);
      }
    }
    setAdding(null);
    if (made.length === 1) location.hash = `#/review/${made[0]!.id}`;
    else reload();
  };
  const cancelAll = async () => {
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
      <Drop onFiles={(files) => void add(files)}>{t("dropToReview")}</Drop>
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
        <Tick checked={quick} onChange={setQuick} text={t("firstPassOnly")} />
      </div>
      {(queue.length > 0 || adding) && (
        <p class="queue" role="status">
          {adding ? t("sending", adding) : t("inQueue", { n: queue.length })}
          {queue.length > 0 && <button onClick={() => void cancelAll()}>{t("cancelAll")}</button>}
        </p>
      )}
      <h2>{t("yourReviews")}</h2>
      {reviews?.length === 0 && <p class="note">{t("noneYet")}</p>}
      <ul class="games">
        {reviews?.map((review) => (
          <li key={review.id}>
            <a href={`#/review/${review.id}`}>
              <span>
                {review.black || t("black")} – {review.white || t("white")}
              </span>
              <span class="meta">
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
              aria-label={t("deleteReview", { black: review.black || t("black"), white: review.white || t("white") })}
            >
              ×
            </button>
          </li>
        ))}
      </ul>
    </main>
  );
}
