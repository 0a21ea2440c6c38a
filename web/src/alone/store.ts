// Games, reviews and problems in this browser (IndexedDB): a summary for lists, and a body with everything.

import { ApiError } from "../api";
import { t } from "../i18n";

export type Kind = "game" | "review" | "problem" | "tags";

export interface Item {
  kind: Kind;
  id: string;
  created: number;
  changed: number;
  summary: object;
  body: object;
}

type Key = [kind: Kind, id: string];

const NAME = "tengen";
const ITEMS = "items";

/** What holds the items: the browser's database, or memory where that is refused. */
interface Shelf {
  put(items: Item[]): Promise<void>;
  get(key: Key): Promise<Item | undefined>;
  all(kind: Kind): Promise<Item[]>;
  delete(key: Key): Promise<void>;
}

function done<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

function database(base: IDBDatabase): Shelf {
  const items = (mode: IDBTransactionMode) => base.transaction(ITEMS, mode, { durability: "strict" });
  const ended = (transaction: IDBTransaction) =>
    new Promise<void>((resolve, reject) => {
      transaction.oncomplete = () => resolve();
      transaction.onabort = transaction.onerror = () => reject(transaction.error);
    });
  return {
    put(all) {
      const transaction = items("readwrite");
      for (const item of all) transaction.objectStore(ITEMS).put(item);
      return ended(transaction);
    },
    get: (key) => done(items("readonly").objectStore(ITEMS).get(key)),
    all: (kind) => done(items("readonly").objectStore(ITEMS).getAll(IDBKeyRange.bound([kind, ""], [kind, "\uffff"]))),
    delete(key) {
      const transaction = items("readwrite");
      transaction.objectStore(ITEMS).delete(key);
      return ended(transaction);
    },
  };
}

function memory(): Shelf {
  const held = new Map<string, Item>();
  return {
    put: async (items) => items.forEach((item) => held.set(`${item.kind}/${item.id}`, structuredClone(item))),
    get: async ([kind, id]) => structuredClone(held.get(`${kind}/${id}`)),
    all: async (kind) => [...held.values()].filter((item) => item.kind === kind).map((item) => structuredClone(item)),
    delete: async ([kind, id]) => void held.delete(`${kind}/${id}`),
  };
}

export class Store {
  private constructor(
    private readonly shelf: Shelf,
    /** Whether it lasts longer than the page. */
    readonly lasts: boolean,
  ) {}

  /** Open the browser's database; where it is refused, keep everything until the page is closed. */
  static async open(): Promise<Store> {
    try {
      const request = indexedDB.open(NAME, 1);
      request.onupgradeneeded = () => request.result.createObjectStore(ITEMS, { keyPath: ["kind", "id"] });
      const base = await done(request);
      // Another tab may bring a newer version of the page.
      base.onversionchange = () => base.close();
      void navigator.storage?.persist?.().catch(() => {});
      return new Store(database(base), true);
    } catch {
      return new Store(memory(), false);
    }
  }

  /** Insert or replace an item; nothing is changed if it cannot be stored. */
  async put(kind: Kind, id: string, summary: object, body: object): Promise<void> {
    const now = Date.now() / 1000;
    const known = await this.shelf.get([kind, id]);
    await this.keep([{ kind, id, created: known?.created ?? now, changed: now, summary, body }]);
  }

  async find<T>(kind: Kind, id: string): Promise<T | null> {
    return ((await this.shelf.get([kind, id]))?.body as T | undefined) ?? null;
  }

  async get<T>(kind: Kind, id: string): Promise<T> {
    const found = await this.find<T>(kind, id);
    if (!found) throw new ApiError(t("notHere"), 404);
    return found;
  }

  /** Return all summaries of a kind with ids and times, latest first. */
  async list<T>(kind: Kind): Promise<T[]> {
    const items = await this.shelf.all(kind);
    items.sort((a, b) => b.changed - a.changed || b.created - a.created);
    return items.map(({ id, created, changed, summary }) => ({ id, created, changed, ...summary }) as T);
  }

  delete(kind: Kind, id: string): Promise<void> {
    return this.shelf.delete([kind, id]);
  }

  /** Return everything, to be imported elsewhere. */
  async export(): Promise<Blob> {
    const kinds: Kind[] = ["game", "review", "problem", "tags"];
    const items = (await Promise.all(kinds.map((kind) => this.shelf.all(kind)))).flat();
    return new Blob([JSON.stringify({ tengen: 1, items })], { type: "application/json" });
  }

  /** Add what `export` wrote, without replacing what is newer here; return how many items are new. */
  async import(text: string): Promise<number> {
    let items: Item[];
    try {
      ({ items } = JSON.parse(text));
      if (!items.every(({ kind, id, summary, body }) => kind && id && summary && body)) throw new Error();
    } catch {
      throw new ApiError(t("notExported"), 422);
    }
    const known = await Promise.all(items.map(({ kind, id }) => this.shelf.get([kind, id])));
    const fresh = items.filter((item, i) => !known[i] || known[i]!.changed < item.changed);
    await this.keep(fresh);
    return fresh.length;
  }

  private async keep(items: Item[]): Promise<void> {
    try {
      await this.shelf.put(items);
    } catch {
      throw new ApiError(t("storageFull"), 507);
    }
  }
}
