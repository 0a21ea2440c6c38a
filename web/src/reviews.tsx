// The list of reviews, and a place to drop more games.

import { useEffect, useState } from "preact/hooks";
import { api, type ReviewEntry } from "./api";
import { ago, Drop, usePolled } from "./parts";
import { complain } from "./status";

const REFRESH = 1500;
const GAMES = /\.(sgf|gib|ngf|mgt|txt|zip|tar|tgz|gz|bz2|xz)$/i;

export function Reviews() {
  const [busy, setBusy] = useState(true);
  const [reviews, reload] = usePolled<ReviewEntry[]>("/reviews", busy ? REFRESH : null);
  const waiting = reviews?.some((r) => r.status === "waiting") ?? true;
  useEffect(() => setBusy(waiting), [waiting]);
  const [quick, setQuick] = useState(false);
  const add = async (files: File[]) => {
    const made: { id: string }[] = [];
    for (const file of files) {
      try {
        const query = new URLSearchParams({ name: file.name, quick: String(quick) });
        made.push(...(await api<{ id: string }[]>(`/reviews?${query}`, { body: file })));
      } catch (problem) {
        complain(problem);
      }
    }
    if (made.length === 1) location.hash = `#/review/${made[0]!.id}`;
    else reload();
  };
  const forget = async (id: string) => {
    await api(`/reviews/${id}`, { method: "DELETE" }).catch(complain);
    reload();
  };
  return (
    <main class="narrow">
      <h1>Review</h1>
      <p>
        Who was ahead, what each move lost, what would have been better. A first pass over the whole
        game takes seconds; then the doubtful moves are searched. Reviews run one after the other in
        the background; you can play meanwhile.
      </p>
      <Drop onFiles={(files) => void add(files)}>
        Drop games here or choose files: SGF and other formats, collections, zip and tar archives
      </Drop>
      <div class="actions">
        <label class="button">
          A whole folder
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
        <label class="inline">
          <input
            type="checkbox"
            checked={quick}
            onChange={(e) => setQuick(e.currentTarget.checked)}
          />
          First pass only
        </label>
      </div>
      <h2>Your reviews</h2>
      {reviews?.length === 0 && <p class="note">None yet.</p>}
      <ul class="games">
        {reviews?.map((review) => (
          <li key={review.id}>
            <a href={`#/review/${review.id}`}>
              <span>
                {review.black || "Black"} – {review.white || "White"}
              </span>
              <span class="meta">
                {review.size[1]}×{review.size[0]}, {review.moves} moves
                {review.result && `, ${review.result}`} ·{" "}
                {review.status === "waiting"
                  ? review.progress
                    ? `${review.progress.stage}: ${review.progress.done} of ${review.progress.total}`
                    : "waiting"
                  : review.status === "failed"
                    ? "failed"
                    : ago(review.changed)}
              </span>
            </a>
            <button
              class="plain"
              onClick={() => forget(review.id)}
              aria-label={`Delete the review of ${review.black || "Black"} against ${review.white || "White"}`}
            >
              ×
            </button>
          </li>
        ))}
      </ul>
    </main>
  );
}
