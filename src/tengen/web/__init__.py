"""The board in the browser: a local server with an API, and the page that uses it.

`app` puts the server together. Routes: `play_routes`, `reviews`, `look_routes`. Work of child
processes: `tasks`, run by `workers`. The page's sources are in `web/` at the root of the project;
`static` holds what is built from them.
"""
