// Trainings live from their metrics, and the laboratory's reports.

import type { Entry } from "./arena";
import { t } from "./i18n";
import { ago, useLoaded, usePolled } from "./parts";
import { Plot } from "./plot";

interface Training {
  name: string;
  over: string | null;
  rows: number;
  columns: Record<string, (number | null)[]>;
}

const REFRESH = 3000;

export function Laboratory({ argument }: { argument: string }) {
  const [trainings] = useLoaded<Entry[]>("/trainings");
  const [reports] = useLoaded<Entry[]>("/reports");
  return (
    <main class="wide">
      <h1>{t("laboratory")}</h1>
      {argument && <Curves key={argument} id={argument} />}
      <h2>{t("reports")}</h2>
      {reports?.length === 0 && (
        <p class="note">
          {t("noReports")} <code>tengen lab</code>
        </p>
      )}
      <ul class="games">
        {reports?.map((entry) => (
          <li key={entry.id}>
            <a href={`/api/reports/${entry.id}`} target="_blank" rel="noopener">
              <span>{entry.name}</span>
              <span class="meta">{ago(entry.changed)}</span>
            </a>
          </li>
        ))}
      </ul>
      <h2>{t("trainings")}</h2>
      {trainings?.length === 0 && (
        <p class="note">{t("noTrainings")} <code>tengen web --runs DIR</code></p>
      )}
      <ul class="games">
        {trainings?.map((entry) => (
          <li key={entry.id}>
            <a href={`#/laboratory/${entry.id}`} aria-current={entry.id === argument ? "page" : undefined}>
              <span>{entry.name}</span>
              <span class="meta">{ago(entry.changed)}</span>
            </a>
          </li>
        ))}
      </ul>
    </main>
  );
}

function Curves({ id }: { id: string }) {
  const [training] = usePolled<Training>(`/trainings/${encodeURIComponent(id)}`, REFRESH);
  if (!training) return <p class="note">{t("reading")}</p>;
  const over = training.over ? training.columns[training.over]! : [];
  const names = Object.keys(training.columns).filter((name) => name !== training.over);
  return (
    <section>
      <h2>{training.name}</h2>
      <p class="note">
        {t("nRows", { n: training.rows })} {t("readAgain")}
      </p>
      <div class="plots">
        {names.map((name) => (
          <Plot key={name} title={name.replaceAll("_", " ")} over={over.length ? over : training.columns[name]!.map((_, i) => i)} values={training.columns[name]!} />
        ))}
      </div>
    </section>
  );
}
