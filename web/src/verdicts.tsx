// What a paper claimed beside what came out here: one line and one picture for each figure.

import { t, type Key } from "./i18n";

export interface Claim {
  id: string;
  where: string;
  what: string;
  figure: number;
  no_effect: number | null;
  headline: boolean;
  ours: number | null;
  interval: [number, number] | null;
  verdict: string;
  full: boolean;
  units: string;
  told: { paper: string; ours: string };
}

const WORDS: Record<string, Key> = {
  agrees: "verdictAgrees",
  better: "verdictBetter",
  worse: "verdictWorse",
  refuted: "verdictRefuted",
  undecided: "verdictUndecided",
};

export function Claims({ claims }: { claims: Claim[] }) {
  const measured = claims.filter((claim) => claim.ours !== null);
  const first = measured.filter((claim) => claim.headline);
  const shown = first.length ? first : measured.slice(0, 3);
  if (!measured.length) return <p class="note">{t("paperNothing")}</p>;
  return (
    <>
      <p class="note">{t("paperLegend")}</p>
      <Lines claims={shown} />
      {measured.length > shown.length && (
        <details>
          <summary>{t("paperAllClaims", { n: measured.length })}</summary>
          <Lines claims={measured.filter((claim) => !shown.includes(claim))} />
        </details>
      )}
    </>
  );
}

function Lines({ claims }: { claims: Claim[] }) {
  return (
    <ul class="claims">
      {claims.map((claim) => (
        <li key={claim.id}>
          <p class="what" lang="en">
            {claim.what} <small>{claim.where}</small>
          </p>
          <Interval claim={claim} />
          <p class="figures">
            <b class={`verdict ${claim.verdict}`}>
              {claim.verdict in WORDS ? t(WORDS[claim.verdict]!) : claim.verdict}
            </b>{" "}
            {t("paperFigure", claim.told)}
            <small>
              {" "}
              <span lang="en">{claim.units}</span>
              {!claim.full && `, ${t("paperSmaller")}`}
            </small>
          </p>
        </li>
      ))}
    </ul>
  );
}

const WIDTH = 300;
const HEIGHT = 26;

/** Our figure with its interval, and the paper's, on one scale. */
function Interval({ claim }: { claim: Claim }) {
  const ours = claim.ours!;
  const [low, high] = claim.interval ?? [ours, ours];
  const marks = [claim.figure, ours, low, high, ...(claim.no_effect === null ? [] : [claim.no_effect])];
  const [least, most] = [Math.min(...marks), Math.max(...marks)];
  const room = most - least || Math.abs(most) || 1;
  const x = (value: number) => 10 + ((WIDTH - 20) * (value - least + 0.04 * room)) / (1.08 * room);
  const middle = HEIGHT / 2;
  return (
    <svg class="interval" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={t("paperFigure", claim.told)}>
      <line class="axis" x1={0} x2={WIDTH} y1={middle} y2={middle} />
      {claim.no_effect !== null && (
        <line class="nothing" x1={x(claim.no_effect)} x2={x(claim.no_effect)} y1={2} y2={HEIGHT - 2} />
      )}
      <line class="ours" x1={x(low)} x2={x(high)} y1={middle} y2={middle} />
      <line class="theirs" x1={x(claim.figure)} x2={x(claim.figure)} y1={2} y2={HEIGHT - 2} />
      <circle class="ours" cx={x(ours)} cy={middle} r={5} />
    </svg>
  );
}
