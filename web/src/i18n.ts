// All words of the page, in the language that the browser asks for or the visitor chose.

import { alone } from "./texts/alone";
import { de } from "./texts/de";
import { en, type Texts } from "./texts/en";
import { ja } from "./texts/ja";
import { ko } from "./texts/ko";
import { zh } from "./texts/zh";

type All = Texts & typeof alone.en;
export type Key = keyof All;

const TABLES: Record<string, All> = {
  en: { ...en, ...alone.en },
  de: { ...de, ...alone.de },
  ja: { ...ja, ...alone.ja },
  zh: { ...zh, ...alone.zh },
  ko: { ...ko, ...alone.ko },
};
export const LANGUAGES: [code: string, name: string][] = [
  ["en", "English"],
  ["de", "Deutsch"],
  ["ja", "日本語"],
  ["zh", "中文"],
  ["ko", "한국어"],
];

function find(): string {
  const wanted = [stored("language", ""), ...navigator.languages];
  return wanted.map((tag) => tag.slice(0, 2)).find((code) => code in TABLES) ?? "en";
}

/** Read a setting of this browser; a page in a file may not be allowed to keep any. */
export function stored(key: string, otherwise: string): string {
  try {
    return localStorage.getItem(key) ?? otherwise;
  } catch {
    return otherwise;
  }
}

export function store(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // It holds until the page is left.
  }
}

export const language = find();
document.documentElement.lang = language;

/** Return a text, with values for the names in braces. */
export function t(key: Key, values: Record<string, string | number> = {}): string {
  return TABLES[language]![key].replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ""));
}

/** Write a rank such as "12 kyu" in the visitor's language. */
export function rankName(rank: string): string {
  const [number, kind] = rank.split(" ");
  return t(kind === "dan" ? "dan" : "kyu", { n: number! });
}
