// The page without a server: everything is computed here, by the kernels and networks that come with it.

import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ApiError } from "./api";
import { Alone, type Facts } from "./alone/backend";
import { Store } from "./alone/store";
import { Workers, type Parts } from "./engine/workers";
import { t } from "./i18n";
import { sayWhy, show } from "./main";
import { compiled, fastest, loadKernels } from "./positions";

/** The files that `make site` wrote. */
interface Files extends Facts {
  networks: Record<"best" | "people", { file: string; bytes: number }>;
}

/** Load a file and say how far it is. */
async function loaded(file: string, take: (bytes: number) => void): Promise<ArrayBuffer> {
  const answer = await fetch(file).catch(() => null);
  if (!answer?.ok || !answer.body) throw new ApiError(t("notLoaded", { file }), 0);
  const parts: Uint8Array<ArrayBuffer>[] = [];
  const reader = answer.body.getReader();
  for (;;) {
    const { done, value } = await reader.read().catch(() => {
      throw new ApiError(t("notLoaded", { file }), 0);
    });
    if (done) return new Blob(parts).arrayBuffer();
    parts.push(value);
    take(value.length);
  }
}

/** A bar that goes when the networks are there. */
function Loading({ total, follow }: { total: number; follow: (take: (bytes: number) => void) => Promise<void> }) {
  const [bytes, setBytes] = useState(0);
  const [trouble, setTrouble] = useState("");
  const [done, setDone] = useState(false);
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    let sum = 0;
    setTrouble("");
    follow((more) => setBytes((sum += more))).then(
      () => setDone(true),
      (failure) => setTrouble(failure.message),
    );
  }, [attempt]);
  if (done) return null;
  return (
    <p class="preparing" role="status">
      {trouble || t("loadingNetworks")}{" "}
      {trouble ? <button onClick={() => setAttempt(attempt + 1)}>{t("tryAgain")}</button> : <progress max={total} value={bytes} />}
    </p>
  );
}

async function start(): Promise<void> {
  const facts = fetch("data/facts.json").then((answer) => answer.json() as Promise<Files>);
  const module = await compiled(fastest());
  const engine = await loadKernels(module);
  const { networks, ...rest } = await facts.catch(() => {
    throw new ApiError(t("notLoaded", { file: "data/facts.json" }), 0);
  });
  const store = await Store.open();
  let give: (parts: Parts) => void;
  const parts = new Promise<Parts>((resolve) => (give = resolve));
  const cores = navigator.hardwareConcurrency || 2;
  const backend = new Alone(store, engine, new Workers(parts, cores), rest);
  const script = new URL("static/worker.js", document.baseURI).href;
  const load = async (take: (bytes: number) => void) => {
    const [best, people] = await Promise.all([networks.best, networks.people].map(({ file }) => loaded(`data/${file}`, take)));
    give({ script, module, best: best!, people: people! });
  };
  show(backend, "sw.js?alone");
  const bar = document.createElement("div");
  document.body.prepend(bar);
  render(
    <>
      {!store.lasts && (
        <p class="preparing" role="alert">
          {t("storageRefused")}
        </p>
      )}
      <Loading total={networks.best.bytes + networks.people.bytes} follow={load} />
    </>,
    bar,
  );
}

start().catch(sayWhy);
