"""The board in the browser: a local server with an API, and the page that uses it.

`app` puts the server together from `services` (`games`, `reviews`) and routes (`game_routes`,
`review_routes`, `player_routes`, `look_routes`). Child processes, run by `workers`, do the work:
`tasks`, `machines`, `artifacts`, and uploads in `positions`. The page's sources are in `web/`;
`static` holds what is built from them. The answers come from the packages
below: no search is here, and the page knows rules only to draw a move at once. `wasm` compiles
kernels for the page.
"""
