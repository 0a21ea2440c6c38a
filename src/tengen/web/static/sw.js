// Keep the page on the device: the server's copy where it answers, the kept one where it does not.

const CACHE = "tengen";
const SHELL = ["/", "/static/app.js", "/static/app.css", "/static/icon.svg", "/static/manifest.webmanifest"];

addEventListener("install", (event) => {
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(SHELL)).then(() => skipWaiting()));
});

addEventListener("activate", (event) => event.waitUntil(clients.claim()));

addEventListener("fetch", (event) => {
  const { pathname, origin } = new URL(event.request.url);
  if (event.request.method !== "GET" || origin !== location.origin) return;
  if (pathname !== "/" && !pathname.startsWith("/static/")) return;
  event.respondWith(
    fetch(event.request).then(
      (answer) => {
        if (answer.ok) {
          const copy = answer.clone();
          event.waitUntil(caches.open(CACHE).then((cache) => cache.put(pathname, copy)));
        }
        return answer;
      },
      () => caches.match(pathname).then((kept) => kept ?? Response.error()),
    ),
  );
});
