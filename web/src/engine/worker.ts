// A Web Worker with kernels and networks of its own, which does one task at a time.

import { Engine } from "./memory";
import { Network } from "./network";
import { Judge } from "./judge";
import { TASKS, type Task, type Workplace } from "./tasks";

export type Question =
  | { what: "load"; module: WebAssembly.Module; best: ArrayBuffer; people: ArrayBuffer }
  | { what: "do"; id: number; task: keyof typeof TASKS; given: unknown }
  | { what: "stop"; id: number };

export type Answer =
  | { what: "loaded" }
  | { what: "part"; id: number; value: unknown }
  | { what: "done"; id: number; value: unknown }
  | { what: "failed"; id: number; message: string };

let place: Omit<Workplace, "tell" | "pause">;
const stopped = new Set<number>();

const tell = (answer: Answer) => postMessage(answer);

addEventListener("message", async ({ data }: MessageEvent<Question>) => {
  if (data.what === "stop") stopped.add(data.id);
  else if (data.what === "load") {
    const engine = await Engine.load(data.module);
    const best = new Network(engine, data.best);
    place = { engine, best, people: new Network(engine, data.people), judge: new Judge(best) };
    tell({ what: "loaded" });
  } else {
    const { id, task, given } = data;
    const pause = () => new Promise<boolean>((resume) => setTimeout(() => resume(stopped.has(id)))); // a message may come in
    try {
      const work = TASKS[task] as Task<unknown, unknown>;
      const value = await work(given, { ...place, pause, tell: (value) => tell({ what: "part", id, value }) });
      tell({ what: "done", id, value });
    } catch (failure) {
      tell({ what: "failed", id, message: String((failure as Error)?.message ?? failure) });
    }
    stopped.delete(id);
  }
});
