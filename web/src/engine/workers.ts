// Searches in Web Workers, so that the page never waits; a worker searches one position at a time.

import type { Candidate } from "./search";
import type { Answer, Position, Question } from "./worker";

export interface Report {
  visits: number;
  candidates: Candidate[];
  last: boolean;
}

interface Task {
  id: number;
  position: Position;
  visits: number;
  take: (report: Report) => void;
  resolve: (report: Report) => void;
  reject: (failure: Error) => void;
}

export class Searchers {
  private readonly idle: Worker[] = [];
  private readonly all: Worker[] = [];
  private readonly running = new Map<Worker, Task>();
  private readonly waiting: Task[] = [];
  private last = 0;

  /** Start workers from the address of their script; `network` is a file of `page_network`. */
  static async start(script: string, module: WebAssembly.Module, network: ArrayBuffer, count: number): Promise<Searchers> {
    const made = new Searchers();
    const starts = Array.from({ length: count }, () => made.add(script, module, network));
    await Promise.all(starts);
    return made;
  }

  /** Search a position; `take` gets reports on the way. A signal ends the search early. */
  search(
    position: Position,
    visits: number,
    take: (report: Report) => void = () => {},
    signal?: AbortSignal,
  ): Promise<Report> {
    return new Promise((resolve, reject) => {
      const task = { id: ++this.last, position, visits, take, resolve, reject };
      this.waiting.push(task);
      signal?.addEventListener("abort", () => this.stop(task));
      this.next();
    });
  }

  /** End all workers and what they do. */
  close(): void {
    for (const worker of this.all) worker.terminate();
    const tasks = [...this.running.values(), ...this.waiting.splice(0)];
    for (const task of tasks) task.reject(new Error("the search was ended"));
    this.running.clear();
  }

  private add(script: string, module: WebAssembly.Module, network: ArrayBuffer): Promise<void> {
    const worker = new Worker(script, { type: "module" });
    this.all.push(worker);
    return new Promise((resolve, reject) => {
      worker.onerror = (event) => {
        reject(new Error(event.message));
        this.running.get(worker)?.reject(new Error(event.message));
        this.running.delete(worker);
      };
      worker.onmessage = ({ data }: MessageEvent<Answer>) => {
        if (data.what === "loaded") {
          this.idle.push(worker);
          resolve();
        } else this.heard(worker, data);
        this.next();
      };
      this.ask(worker, { what: "load", module, network });
    });
  }

  private heard(worker: Worker, answer: Exclude<Answer, { what: "loaded" }>): void {
    const task = this.running.get(worker);
    if (!task || task.id !== answer.id) return;
    if (answer.what === "report") task.take(answer);
    if (answer.what === "report" && !answer.last) return;
    this.running.delete(worker);
    this.idle.push(worker);
    if (answer.what === "failed") task.reject(new Error(answer.message));
    else task.resolve(answer);
  }

  private next(): void {
    while (this.idle.length && this.waiting.length) {
      const [worker, task] = [this.idle.pop()!, this.waiting.shift()!];
      this.running.set(worker, task);
      this.ask(worker, { what: "search", id: task.id, position: task.position, visits: task.visits });
    }
  }

  private stop(task: Task): void {
    const place = this.waiting.indexOf(task);
    if (place >= 0) {
      this.waiting.splice(place, 1);
      task.reject(new Error("the search was ended"));
    }
    for (const [worker, other] of this.running) if (other === task) this.ask(worker, { what: "stop" });
  }

  private ask(worker: Worker, question: Question): void {
    worker.postMessage(question);
  }
}
