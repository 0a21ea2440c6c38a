// Keep the page on the device: the server's copy where it answers, the kept one where it does not.
// With ?alone it keeps the networks too, whose names change with what is in them.

const CACHE = "tengen";
const HOME = new URL("./", location).pathname;
const FILES = ["app.css", "icon.svg", "manifest.webmanifest", "tengen.wasm"];
const ALONE = location.search === "?alone";
const SCRIPTS = ALONE ? ["alone.js", "worker.js", "tengen-relaxed.wasm"] : ["app.js"];

/** Return the facts of the page without a server, and its networks. */
async function facts() {
  const names = ["facts.json", "papers.json"];
  const { networks } = await fetch(`${HOME}data/facts.json`).then((answer) => answer.json());
  return [...names, ...Object.values(networks).map(({ file }) => file)].map((name) => `${HOME}data/${name}`);
}

async function install() {
  const shell = [HOME, ...[...FILES, ...SCRIPTS].map((name) => `${HOME}static/${name}`)];
  const cache = await caches.open(CACHE);
  await cache.addAll(ALONE ? [...shell, ...(await facts())] : shell);
  await skipWaiting();
}

addEventListener("install", (event) => event.waitUntil(install()));

addEventListener("activate", (event) => event.waitUntil(clients.claim()));

/** Ask for a file and keep it. */
async function fresh(event, name) {
  const answer = await fetch(event.request);
  if (answer.ok) {
    const copy = answer.clone();
    event.waitUntil(caches.open(CACHE).then((cache) => cache.put(name, copy)).catch(() => {})); // no room
  }
  return answer;
}

addEventListener("fetch", (event) => {
  const { pathname, origin } = new URL(event.request.url);
  if (event.request.method !== "GET" || origin !== location.origin) return;
  const inside = ["static/", "data/"].some((folder) => pathname.startsWith(HOME + folder));
  if (pathname !== HOME && !inside) return;
  const kept = () => caches.match(pathname);
  const load = () => fresh(event, pathname);
  event.respondWith(
    pathname.endsWith(".safetensors")
      ? kept().then((found) => found ?? load())
      : load().catch(() => kept().then((found) => found ?? Response.error())),
  );
});
