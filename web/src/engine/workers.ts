// Web Workers that do tasks, so that the page never waits; each does one task at a time.

import type { TASKS, Task } from "./tasks";
import type { Answer, Question } from "./worker";

type Name = keyof typeof TASKS;
type Given<N extends Name> = (typeof TASKS)[N] extends Task<infer G, infer _> ? G : never;
type Found<N extends Name> = (typeof TASKS)[N] extends Task<infer _, infer F> ? F : never;

export interface How {
  signal?: AbortSignal;
  /** Takes parts of the result on the way. */
  take?: (part: unknown) => void;
  /** Whether somebody waits for it: it is done before tasks for later. */
  soon?: boolean;
}

interface Job {
  id: number;
  task: Name;
  given: unknown;
  how: How;
  resolve: (found: unknown) => void;
  reject: (failure: Error) => void;
}

/** What workers are made of: their script, the compiled kernels, and the files of two networks. */
export interface Parts {
  script: string;
  module: WebAssembly.Module;
  best: ArrayBuffer;
  people: ArrayBuffer;
}

// A worker takes up to 60 MB; a tab shall take 250 MB.
const { deviceMemory = 8 } = navigator as { deviceMemory?: number }; // gigabytes, if the browser tells
const MOST = deviceMemory < 8 ? 2 : 3;

const ENDED = () => new DOMException("the task was ended", "AbortError");

export class Workers {
  private readonly idle: Worker[] = [];
  private readonly running = new Map<Worker, Job>();
  private readonly waiting: Job[] = [];
  private readonly most: number;
  private starting = 0;
  private last = 0;

  /** Workers are started when they are needed and their parts are there, one for each of `cores` that memory allows. */
  constructor(
    private readonly parts: Promise<Parts>,
    cores: number,
  ) {
    this.most = Math.min(cores, MOST);
  }

  /** Do a task. A signal ends it early: one that has begun returns what it has found. */
  run<N extends Name>(task: N, given: Given<N>, how: How = {}): Promise<Found<N>> {
    return new Promise((resolve, reject) => {
      const job: Job = { id: ++this.last, task, given, how, resolve: resolve as (found: unknown) => void, reject };
      if (how.signal?.aborted) return reject(ENDED());
      how.signal?.addEventListener("abort", () => this.stop(job));
      const later = how.soon ? this.waiting.findIndex((other) => !other.how.soon) : -1;
      this.waiting.splice(later < 0 ? this.waiting.length : later, 0, job);
      this.next();
    });
  }

  /** End all workers and what they do. */
  close(): void {
    for (const worker of [...this.idle, ...this.running.keys()]) worker.terminate();
    for (const job of [...this.running.values(), ...this.waiting.splice(0)]) job.reject(ENDED());
    this.running.clear();
    this.idle.length = 0;
  }

  private next(): void {
    while (this.waiting.length && this.running.size < this.most) {
      const worker = this.idle.pop();
      if (!worker) {
        const wanted = Math.min(this.waiting.length, this.most - this.running.size);
        while (this.starting < wanted) void this.start();
        return;
      }
      const job = this.waiting.shift()!;
      this.running.set(worker, job);
      this.ask(worker, { what: "do", id: job.id, task: job.task, given: job.given });
    }
  }

  private async start(): Promise<void> {
    this.starting++;
    const { script, module, best, people } = await this.parts;
    const worker = new Worker(script, { type: "module" });
    let loaded = false;
    worker.onerror = (event) => {
      event.preventDefault();
      const failure = new Error(event.message || "the worker did not start");
      if (!loaded) this.starting--;
      this.running.get(worker)?.reject(failure);
      this.running.delete(worker);
      worker.terminate();
      if (!loaded && !this.running.size && !this.starting) for (const job of this.waiting.splice(0)) job.reject(failure);
      this.next();
    };
    worker.onmessage = ({ data }: MessageEvent<Answer>) => {
      if (data.what === "loaded") {
        loaded = true;
        this.starting--;
        this.idle.push(worker);
      } else this.heard(worker, data);
      this.next();
    };
    this.ask(worker, { what: "load", module, best, people });
  }

  private heard(worker: Worker, answer: Exclude<Answer, { what: "loaded" }>): void {
    const job = this.running.get(worker);
    if (!job || job.id !== answer.id) return;
    if (answer.what === "part") {
      job.how.take?.(answer.value);
      return;
    }
    this.running.delete(worker);
    if (answer.what === "failed") {
      job.reject(new Error(answer.message));
      worker.terminate(); // an error in a kernel leaves it unusable
    } else {
      this.idle.push(worker);
      job.resolve(answer.value);
    }
  }

  private stop(job: Job): void {
    const place = this.waiting.indexOf(job);
    if (place >= 0) {
      this.waiting.splice(place, 1);
      job.reject(ENDED());
    }
    for (const [worker, other] of this.running) if (other === job) this.ask(worker, { what: "stop", id: job.id });
  }

  private ask(worker: Worker, question: Question): void {
    worker.postMessage(question);
  }
}
