"""The board in the browser: a local server with an API, and the page that talks to it.

Layers by knowledge: `positions` and `uploads` (boards and files as plain values), `workers` and
`tasks` (what runs in processes of its own), `store` (the database), `table`, `room` and `reviews`
(games and jobs), the `*_routes` (HTTP), `security` (who may ask), `app` (all of it together). The
page's sources lie in `web/` at the root of the project; `static` holds what is built from them.
"""
