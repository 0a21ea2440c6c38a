// A Web Worker with kernels and networks of its own, which does one task at a time.

import { Engine } from "./memory";
import { Network } from "./network";
import { Judge } from "./judge";
import { TASKS, type Position, type Task, type Workplace } from "./tasks";

export type Question =
  | { what: "load"; module: WebAssembly.Module; best: ArrayBuffer; people: ArrayBuffer }
  | { what: "do"; id: number; task: keyof typeof TASKS; given: unknown }
  | { what: "stop"; id: number };

export type Answer =
  | { what: "loaded" }
  | { what: "part"; id: number; value: unknown }
  | { what: "done"; id: number; value: unknown }
  | { what: "failed"; id: number; message: string };

let parts: Extract<Question, { what: "load" }>;
/** What tasks on boards of one size work with: scratch space for another size would be more memory. */
let place: Omit<Workplace, "tell" | "pause">;
let size = "";
const stopped = new Set<number>();

const tell = (answer: Answer) => postMessage(answer);

addEventListener("message", async ({ data }: MessageEvent<Question>) => {
  if (data.what === "stop") stopped.add(data.id);
  else if (data.what === "load") {
    parts = data;
    tell({ what: "loaded" });
  } else {
    const { id, task, given } = data;
    const pause = () => new Promise<boolean>((resume) => setTimeout(() => resume(stopped.has(id)))); // a message may come in
    try {
      const work = TASKS[task] as Task<unknown, unknown>;
      await prepare(given as { position: Position });
      const value = await work(given, { ...place, pause, tell: (value) => tell({ what: "part", id, value }) });
      tell({ what: "done", id, value });
    } catch (failure) {
      tell({ what: "failed", id, message: String((failure as Error)?.message ?? failure) });
    }
    stopped.delete(id);
  }
});

async function prepare({ position: { rows, cols } }: { position: Position }): Promise<void> {
  if (size === `${rows}x${cols}`) return;
  const engine = await Engine.load(parts.module);
  const best = new Network(engine, parts.best);
  let people: Network;
  place = { engine, best, people: () => (people ??= new Network(engine, parts.people)), judge: new Judge(best) };
  size = `${rows}x${cols}`;
}
