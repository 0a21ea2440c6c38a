// What the server offers to programs, from its own description.

import { t } from "./i18n";
import { useLoaded } from "./parts";

interface Operation {
  description?: string;
  summary?: string;
  tags?: string[];
}

interface Described {
  paths: Record<string, Record<string, Operation>>;
}

const EXAMPLE = `curl -s ${location.origin}/api/predict \\
  -H 'content-type: application/json' \\
  -d '{"size": 9, "moves": [["B", "E5"], ["W", "C3"]]}'`;

export function ApiPage() {
  const [described] = useLoaded<Described>("/openapi.json");
  const operations = Object.entries(described?.paths ?? {}).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
  );
  const tags = [...new Set(operations.map((o) => o.tags?.[0] ?? "other"))];
  return (
    <main class="narrow">
      <h1>API</h1>
      <p>
        {t("apiAbout")} <a href="/api/openapi.json">/api/openapi.json</a>
      </p>
      <pre class="count" tabIndex={0}>
        {EXAMPLE}
      </pre>
      {tags.map((tag) => (
        <section key={tag}>
          <h2>{tag[0]!.toUpperCase() + tag.slice(1)}</h2>
          <dl class="api">
            {operations
              .filter((o) => (o.tags?.[0] ?? "other") === tag)
              .map((o) => (
                <div key={o.method + o.path}>
                  <dt>
                    <code>
                      <b>{o.method.toUpperCase()}</b> {o.path}
                    </code>
                  </dt>
                  <dd>{o.description?.split("`").map((part, i) => (i % 2 ? <code key={i}>{part}</code> : part))}</dd>
                </div>
              ))}
          </dl>
        </section>
      ))}
    </main>
  );
}
